"""What changed from one ledger to another, each as ``python -m verify ledger --json`` prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from verify.ledger import Entry, as_json


class LedgerError(ValueError):
    """A file is not a ledger."""


class _Hypothesis(msgspec.Struct, frozen=True):
    statement: str
    printed: bool


class _Entry(msgspec.Struct, frozen=True):
    """What of an entry is compared, and its name."""

    id: str
    verdict: str
    scope: str
    statement: str
    hypotheses: list[_Hypothesis]
    where: list[str]
    location: str
    expected: str
    form: str


_entries = msgspec.json.Decoder(list[_Entry])


def read(path: Path) -> list[_Entry]:
    """Return the entries of a ledger that was kept.

    Raises:
        LedgerError: the file cannot be read, or is none.
    """
    try:
        return _entries.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise LedgerError(
            f"{path}: {error}; expected what python -m verify ledger --json prints"
        ) from None


def of_today(entries: Sequence[Entry]) -> list[_Entry]:
    """Return today's entries as a ledger holds them."""
    return msgspec.convert([as_json(entry) for entry in entries], list[_Entry])


def changes(before: Sequence[_Entry], after: Sequence[_Entry]) -> Iterator[str]:
    """Yield what changed, a line for each entry that is new or gone, and for each of its parts."""
    old, new = ({entry.id: entry for entry in entries} for entries in (before, after))
    yield from (f"gone: {name} ({old[name].verdict})" for name in old if name not in new)
    yield from (f"new: {name} ({new[name].verdict})" for name in new if name not in old)
    for name in (name for name in new if name in old):
        for part in _Entry.__struct_fields__[1:]:
            was, now = (_told(getattr(entries[name], part)) for entries in (old, new))
            if was != now:
                yield f"{name}: {part} was {was or 'none'}, is {now or 'none'}"


def _told(part: str | list[str] | list[_Hypothesis]) -> str:
    if isinstance(part, str):
        return part
    return "; ".join(x if isinstance(x, str) else _assumed(x) for x in part)


def _assumed(hypothesis: _Hypothesis) -> str:
    return hypothesis.statement + ("" if hypothesis.printed else " (not printed)")
