"""``python -m verify.conform``: the command without the rest of the suite, which starts sooner."""

from __future__ import annotations

import typer

from verify.conform.command import conform

if __name__ == "__main__":
    typer.run(conform)
