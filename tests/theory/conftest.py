"""The profile of the long fuzz: ``pytest tests/theory/test_fuzz.py --hypothesis-profile fuzz``."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fuzz", max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck)
)
