"""Importing the library is light, and what it exports is there."""

import inspect
import subprocess
import sys

import pytest

import theory
from theory import batchnorm, dense, running

HEAVY = {"torch", "sympy", "scipy", "flint", "matplotlib", "sklearn", "jax", "cupy"}


def modules_after(statement):
    """Names of the packages that a fresh interpreter holds after a statement."""
    script = (
        f"{statement}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_library_loads_nothing_heavy():
    loaded = modules_after("import theory; theory.gradient")
    assert "theory" in loaded
    assert not loaded & HEAVY
    assert "verify" not in loaded


def test_examining_loads_nothing_heavy_before_a_witness_asks_for_it():
    loaded = modules_after("import verify.commands.examination")
    assert "rich" in loaded
    assert not loaded & HEAVY - {"flint"}


@pytest.mark.parametrize("used", ["verify.convolutions.command", "verify.site.build"])
def test_what_examines_and_draws_nothing_waits_for_no_pytorch(used):
    loaded = modules_after(f"import {used}")
    assert used.split(".")[0] in loaded
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
