"""How a statement is examined: cases, witnesses, evidence, ledger."""
