"""What is said of a network that cannot be audited."""


class AuditError(ValueError):
    """What was given cannot be audited, with what to do."""
