"""The experiment ``conditioning``: Figure 8 of paper L."""
