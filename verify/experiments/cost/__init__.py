"""The experiment ``cost``: Table 1 of paper L."""
