"""The papers' networks, each with its normalisation chosen by name."""
