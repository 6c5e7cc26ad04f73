r"""Files of JSON objects, one a line, that survive a kill in the middle of a line.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     path = Path(folder) / "found.jsonl"
...     append(path, {"found": 1})
...     _ = path.write_text(path.read_text() + '{"fou')
...     read(path)
[{'found': 1}]
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec


class DamagedLineError(ValueError):
    """A line, not the last one, holds no JSON object."""


def append(path: Path, line: dict[str, Any]) -> None:
    """Write an object as a line at the end of a file, whole or not at all."""
    text = _text(line).encode()
    with path.open("ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            if file.write(text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            with suppress(OSError):
                os.truncate(path, end)
            raise


def write(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write a file of objects, as a whole or not at all."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text("".join(map(_text, lines)), encoding="utf-8")
    temporary.replace(path)


def every(text: bytes) -> bool:
    """Ask for every line."""
    return True


def read(path: Path, is_asked: Callable[[bytes], bool] = every) -> list[dict[str, Any]]:
    """Return the objects of a file; a last line that holds none is left out.

    Args:
        path: of the file.
        is_asked: whether a line is, as text; the others are passed over, which takes less time.

    Raises:
        DamagedLineError: another line holds none.
    """
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    return list(_objects(lines, path, is_asked))


def mend_end(path: Path) -> None:
    """Cut off a last line that holds no object; end one that only lacks its end."""
    text = path.read_bytes()
    last = text[text[:-1].rfind(b"\n") + 1 :]
    if _object(last) is None:
        os.truncate(path, len(text) - len(last))
    elif not last.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, allow_nan=False) + "\n"


def _objects(
    lines: list[bytes], path: Path, is_asked: Callable[[bytes], bool]
) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(lines, start=1):
        if not is_asked(text):
            continue
        if (found := _object(text)) is not None:
            yield found
        elif number < len(lines):
            raise DamagedLineError(
                f"{path}, line {number} is damaged; delete the line, or the file to start anew"
            )


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
