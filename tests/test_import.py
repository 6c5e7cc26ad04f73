"""Importing the library is light, and what it exports is there."""

import inspect
import subprocess
import sys

import pytest

import theory
from theory import batchnorm, dense, running

HEAVY = {"torch", "sympy", "scipy", "flint", "matplotlib", "sklearn", "jax", "cupy"}


SCRIPT = """
import sys
for name in sys.argv[1:]:
    __import__(name)
    if name == "theory":
        sys.modules[name].gradient
    print(*sorted({each.split(".")[0] for each in sys.modules}))
"""


def test_an_import_loads_nothing_heavy_that_is_not_asked_for():
    """The lightest first, in one interpreter."""
    names = "theory", "verify.commands.examination", "verify.commands.convolutions"
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *names, "verify.site.build"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    library, examination, convolutions, site = map(set, map(str.split, run.stdout.splitlines()))
    assert "theory" in library
    assert not library & {*HEAVY, "verify"}
    assert "rich" in examination
    assert not examination & HEAVY - {"flint"}
    for loaded in (convolutions, site):
        assert not loaded & {"torch", "matplotlib", "sklearn", "jax", "cupy"}


@pytest.mark.parametrize("name", theory.__all__)
def test_each_entry_point_is_a_formula_behind_its_check(name):
    module = (
        running if name.startswith("running_") else dense if hasattr(dense, name) else batchnorm
    )
    formula = getattr(module, name.removeprefix("running_"))
    entry = getattr(theory, name)
    assert entry is not formula
    assert inspect.unwrap(entry) is formula
    assert inspect.signature(entry) == inspect.signature(formula)
    assert entry.__doc__ == formula.__doc__


def test_all_is_sorted_and_complete():
    functions = {name for name, value in vars(theory).items() if hasattr(value, "__wrapped__")}
    assert theory.__all__ == sorted(functions)
