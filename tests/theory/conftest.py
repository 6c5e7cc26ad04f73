"""The profile of the long fuzz: ``pytest tests/theory/test_fuzz.py --hypothesis-profile fuzz``."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fuzz", max_examples=1_250, deadline=None, suppress_health_check=list(HealthCheck)
)
