"""How the commands say that their input is bad: one line on the error stream, exit status 2."""

from __future__ import annotations

import typer

EXTRAS = {
    "furo": "docs",
    "myst_parser": "docs",
    "py_mini_racer": "docs",
    "sphinx": "docs",
    "clarabel": "optimal",
    "cupy": "cupy",
    **dict.fromkeys(
        (
            "PIL", "array_api_strict", "flint", "hypothesis", "matplotlib", "msgspec",
            "platformdirs", "pytest", "rich", "scipy", "sklearn", "sympy", "torch",
        ),
        "verify",
    ),
}  # fmt: skip
"""The extra that brings a package, by the name that it is imported by."""


GOES_ON = "the same command goes on with what was not examined yet"
NOT_KEPT = "nothing is kept without --evidence"
"""What to say of a command that was stopped."""


class CacheWarning(UserWarning):
    """Something of the cache could not be used, and is computed again."""


def complain(message: str) -> None:
    """Print a line on the error stream."""
    typer.echo(f"verify: {message}", err=True)


def bad_input(error: Exception) -> typer.Exit:
    """Say what is wrong, and return the exit to raise."""
    complain(str(error))
    return typer.Exit(2)


def interrupted(kept: str) -> typer.Exit:
    """Say that Ctrl-C was pressed and what is kept, and return the exit to raise."""
    complain(f"stopped; {kept}")
    return typer.Exit(130)


def install(error: ModuleNotFoundError) -> str:
    """Return what is missing and the command that installs it, or nothing where none is known."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return ""
    return f"{package} is not installed; run: pip install 'batchnorm-theory[{EXTRAS[package]}]'"
