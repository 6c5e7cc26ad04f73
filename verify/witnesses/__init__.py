"""Who examines a statement: those that prove, those that refute, those that measure."""
