"""The calls that a session may make: each names a method whose types are known."""

import pytest

from ralph.inside.session_calls import (
    ADD_METHODS,
    CLAIM_METHODS,
    GUARDRAIL_METHODS,
    READ_METHODS,
    method_types,
)


@pytest.mark.parametrize(
    "method", sorted(READ_METHODS | ADD_METHODS | CLAIM_METHODS | GUARDRAIL_METHODS)
)
def test_every_method_has_types(method: str) -> None:
    assert "return" in method_types(method)
