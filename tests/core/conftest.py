"""How long Hypothesis may think."""

import os

from hypothesis import HealthCheck, settings

# A busy machine is no failure, so there is no deadline; RALPH_TEST_EXAMPLES=5000 searches longer.
settings.register_profile(
    "ralph",
    deadline=None,
    max_examples=int(os.environ.get("RALPH_TEST_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ralph")
