"""What is a refusal of a mode, and what is a crash."""

from __future__ import annotations

import pytest

from verify.conform.adapters import find
from verify.conform.modes import by_name
from verify.conform.refusals import is_refusal

TORCHS = find("torch").refusals


@pytest.mark.parametrize(
    ("mode", "error", "expected"),
    [
        ("gradient", NotImplementedError(), True),
        ("gradient", RuntimeError("this kernel does not support a backward"), True),
        ("gradient", RuntimeError("derivative for aten::foo is not implemented"), True),
        ("gradient", RuntimeError("an incorrect number of gradients (expected 4, got 3)"), False),
        ("gradient", RuntimeError("has been modified by an inplace operation"), False),
        ("output changed", RuntimeError("has been modified by an inplace operation"), True),
        ("gradient", AttributeError("'X' object has no gradient"), False),
        ("gradient", TypeError("that operand is not supported"), False),
        ("jvp", RuntimeError("functorch: it must override the setup_context staticmethod"), True),
        ("second rr", RuntimeError("any"), True),
        ("vmap gradient", IndexError("any"), True),
        ("without gradient", IndexError("any"), True),
    ],
)
def test_only_words_refuse_a_first_derivative(mode, error, expected):
    assert is_refusal(error, by_name(mode), TORCHS) == expected


def test_a_further_derivative_crashes_in_code_of_the_layers_own():
    found = {}
    for name, source in {"own": __file__, "installed": pytest.__file__}.items():
        try:
            exec(compile("{}['nothing']", source, "exec"))
        except KeyError as error:
            error.__traceback__ = error.__traceback__.tb_next
            found[name] = is_refusal(error, by_name("second rr"), TORCHS)
    assert found == {"own": False, "installed": True}
