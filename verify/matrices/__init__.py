"""How statements about matrices are examined: subjects of numbers, and their witnesses."""
