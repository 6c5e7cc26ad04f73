"""The data sets of the papers' experiments: embedded, or read from a folder of the user's."""
