"""How the commands say that their input is bad: one line on the error stream, exit status 2."""

from __future__ import annotations

import typer


def complain(message: str) -> None:
    """Print a line on the error stream."""
    typer.echo(f"verify: {message}", err=True)


def bad_input(error: Exception) -> typer.Exit:
    """Say what is wrong, and return the exit to raise."""
    complain(str(error))
    return typer.Exit(2)
