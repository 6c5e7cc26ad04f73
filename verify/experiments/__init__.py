"""The papers' experiments: each a value that says what is run, drawn and looked for."""
