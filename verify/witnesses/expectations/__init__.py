"""The Monte Carlo witness: expectations over random matrices, several laws, stated confidence."""
