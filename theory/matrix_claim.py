r"""A statement about matrices of numbers: a layer with its inputs, maps, or a descent.

Its ``sides`` are a function of a subject, which has what the letters of :mod:`theory.layer`,
:mod:`theory.maps` or :mod:`theory.descent` read, all of one arithmetic, and a ``loss``.  It
differentiates functions of these as the witness that offers it does; whatever a statement says of
derivatives is about functions that it writes down literally.  As in :mod:`theory.claim`, the sides
judge nothing, and serve every arithmetic.

Index convention: N examples, n inputs and p outputs of a layer; maps are (N, channel, row, column).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from theory.statement import Statement


class Kind(StrEnum):
    """What the subjects are, by the module that has their letters."""

    LAYER = "layer"
    MAPS = "maps"
    DESCENT = "descent"

    @property
    def sizes(self) -> str:
        """The letters of its sizes."""
        return {"LAYER": "Nnp", "MAPS": "Ncrsdk", "DESCENT": "d"}[self.name]


@dataclass(frozen=True, kw_only=True)
class MatrixClaim(Statement):
    """A statement about matrices of numbers."""

    subject: Kind
    """What the sides are a function of."""
    sizes: Mapping[str, str] | None = field(default=None, hash=False)
    """Of its letters for sizes which of the subject's sizes each is, in the order in which they are
    told, such as ``{"n": "d"}`` where it has n for the dimension d; the subject's if left out."""

    def __post_init__(self) -> None:
        """Refuse a subject that is none, and sizes that it does not have.

        Raises:
            ValueError: it is no :class:`Kind`, nor its name; a size is none of its, or is named
                twice.
        """
        object.__setattr__(self, "subject", Kind(self.subject))
        super().__post_init__()
        told = [*(self.sizes or {}).values()]
        if wrong := [s for s in told if s not in self.subject.sizes or told.count(s) > 1]:
            own = ", ".join(self.subject.sizes)
            raise ValueError(
                f"{self.id}: sizes= has {wrong[0]!r}, and a {self.subject} has the sizes {own},"
                f' each once; write the statement\'s letters before them, as {{"M": "{own[0]}"}}'
            )
