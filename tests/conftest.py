"""What all tests share."""

from hypothesis import HealthCheck, settings

# How long an example takes is the machine's business: time is measured in benchmarks, not asserted in tests.
settings.register_profile("timeless", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("timeless")
