"""The experiment ``small-batch``: Figures 3 to 5 of paper L."""
