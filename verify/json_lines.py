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
from dataclasses import fields
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


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


def read(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file; a last line that holds none is left out.

    Raises:
        DamagedLineError: another line holds none.
    """
    return read_as(object_in, path)


def read_as(made: Callable[[bytes], T | None], path: Path) -> list[T]:
    """Return what is made of each line of a file; a last line of which nothing is, is left out.

    Args:
        made: what is made of a line as text, or that it holds no object.
        path: of the file.

    Raises:
        DamagedLineError: nothing is made of another line.
    """
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    return list(_each(made, lines, path))


def mend_end(path: Path) -> None:
    """Cut off a last line that holds no object; end one that only lacks its end."""
    if not (size := path.stat().st_size):
        return
    with path.open("rb") as read, mmap(read.fileno(), 0, access=ACCESS_READ) as text:
        last = text[text.rfind(b"\n", 0, size - 1) + 1 :]
    if object_in(last) is None:
        os.truncate(path, size - len(last))
    elif not last.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, allow_nan=False) + "\n"


def _each(made: Callable[[bytes], T | None], lines: list[bytes], path: Path) -> Iterator[T]:
    for number, text in enumerate(lines, start=1):
        if (found := made(text)) is not None:
            yield found
        elif number < len(lines):
            raise DamagedLineError(
                f"{path}, line {number} is damaged; delete the line, or the file to start anew"
            )


def parsed(text: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    """Return what a line holds, or None where it is not what the decoder reads."""
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def made(kind: type[T], values: dict[str, Any]) -> T:
    """Return the dataclass of which an object keeps the fields.

    Raises:
        TypeError: a field is missing, unknown or of another type.
    """
    if unknown := values.keys() - {field.name for field in fields(kind)}:  # type: ignore[arg-type]
        raise TypeError(f"unknown: {', '.join(sorted(unknown))}")
    try:
        return msgspec.convert(values, kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise TypeError(str(error)) from None


_objects = msgspec.json.Decoder(dict[str, Any])


def object_in(text: bytes) -> dict[str, Any] | None:
    """Return the object that a line holds, if it holds one."""
    return parsed(text, _objects)
