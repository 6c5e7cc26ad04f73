"""What an examination has found so far, on disk, so that one that was stopped goes on."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from theory import batchnorm

JUDGE = (Path(__file__).parent, Path(batchnorm.__file__).parent)
"""Folders of the code that results depend on, beside the layer's."""


def digest(files: Iterable[Path]) -> str:
    """Return a digest of what stands in files, whatever their order."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


def of_judge() -> str:
    """Return a digest of the code that judges: a version may stand for many in a checkout."""
    return digest(file for folder in JUDGE for file in folder.rglob("*.py"))


class Journal:
    """Results by token, appended as they are found.

    Args:
        folder: where it lies; it is made when the first result is written.
        key: what the results depend on; those of another key are thrown away.
    """

    def __init__(self, folder: Path, key: Any):
        self._path = folder / "unfinished.pickle"
        self._key = hashlib.sha256(repr(key).encode()).hexdigest()
        self._whole = 0
        """So many bytes of the file are whole results of this key."""
        self.kept = dict(self._read())

    def _read(self) -> Iterator[tuple[str, Any]]:
        try:
            with self._path.open("rb") as file:
                if pickle.load(file) != self._key:
                    return
                while True:
                    result = pickle.load(file)
                    self._whole = file.tell()
                    yield result
        # The last result may be half written.
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError):
            return

    def add(self, token: str, result: Any) -> None:
        """Append a result, in place of one that is half written."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self.kept[token] = result
        with self._path.open("r+b" if self._whole else "wb") as file:
            file.seek(self._whole)
            file.truncate()
            if not self._whole:
                pickle.dump(self._key, file)
            pickle.dump((token, result), file)
            self._whole = file.tell()

    def close(self) -> None:
        """Remove what is no longer needed: the examination is finished."""
        self._path.unlink(missing_ok=True)
