"""What a wrong layer is expected to be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LAYOUTS = (
    *("NCL", "NLC", "NCHW", "NCDHW"),
    *("NCHW, all lengths equal", "NCHW, N = 1", "NCHW, H = 1", "NCHW, W = 1"),
    *("channels last", "non-contiguous", "non-contiguous, N = C", "non-contiguous parameters"),
    *("expanded", "expanded x, NCHW"),
    *("rows of a wider array", "every second row"),
)
"""Strata of other axes and of other ways to store arrays."""


@dataclass(frozen=True)
class Fault:
    """A layer with one planted fault.

    ``says`` is a regular expression that the report's places or diagnosis match, case ignored;
    empty where the fault is found and no term of the closed form names it.  ``mode`` is a mode
    of use that shows the fault, with ``word`` in one of its cells at least; ``asked`` are the
    options without which conform would not look there, and ``at`` are the strata that show it.
    ``thread`` is the address of the thread that reported the fault of a released layer; ``says``
    is then what the report says word for word, but for ``.*``.
    """

    layer: Callable[..., Any]
    says: str
    mode: str
    word: str = "wrong"
    asked: Mapping[str, Any] = field(default_factory=dict)
    at: tuple[str, ...] = ()
    thread: str = ""

    @property
    def name(self) -> str:
        """The layer's name, which says the fault."""
        return self.layer.__name__
