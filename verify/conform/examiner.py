"""Who examined a layer: the code of ours that a line of ``docs/measured`` was found by."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Mapping
from functools import cache
from typing import Any

from verify.conform.modes import MODES
from verify.sources import sources

EXAMINATION = "verify.conform.run"
ADAPTERS = "verify.conform.adapters"


@cache
def examiner(implementations: str, adapters: tuple[str, ...]) -> str:
    """Return a digest of the code that examines a module's layers.

    That is the examination, the adapters and the module, with what they import; other frameworks'
    adapters and layers do not count, nor what :func:`code` leaves out.

    Args:
        implementations: the module's full name.
        adapters: the names of those of ours that are used.
    """
    modules = (EXAMINATION, implementations, *(f"{ADAPTERS}.{adapter}" for adapter in adapters))
    files = frozenset().union(*map(sources, modules))
    texts = (code(file.read_text(encoding="utf-8")) for file in sorted(files))
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


def is_todays(line: Mapping[str, Any]) -> bool:
    """Whether today's code is what a line was found by; one that does not say is an earlier's.

    Args:
        line: of :func:`verify.conform.survey.summary`.
    """
    module = line["target"].partition(":")[0]
    return "examiner" in line and line["examiner"] == examiner(module, tuple(line["adapters"]))


def added_modes(line: Mapping[str, Any]) -> list[str]:
    """Return the modes that a line knows nothing of."""
    known = {row["mode"] for row in line["rows"]} | set(line["not_offered"])
    return [mode.name for mode in MODES if mode.name not in known]


@cache
def code(source: str) -> str:
    r"""Return a source without comments, docstrings, and lines and ends of lines that are blank.

    Every Python gives the same, which is not so of a syntax tree's text.

    >>> code('"Doubles."\n\ndef f(x):  # a number\n    return 2 * x\n')
    'def f(x):\n    return 2 * x'
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
                lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())
