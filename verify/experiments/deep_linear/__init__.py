"""The experiment ``dln``: the deep linear network of paper S."""
