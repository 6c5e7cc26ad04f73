"""What an examination has found so far, on disk, so that one that was stopped goes on."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    """Results by token, appended as they are found.

    Args:
        folder: where it lies; it is made when the first result is written.
        key: what the results depend on; those of another key are thrown away.
    """

    def __init__(self, folder: Path, key: Any):
        self._path = folder / "unfinished.pickle"
        self._key = hashlib.sha256(repr(key).encode()).hexdigest()
        self.kept = dict(self._read())

    def _read(self) -> Iterator[tuple[str, Any]]:
        try:
            with self._path.open("rb") as file:
                if pickle.load(file) != self._key:
                    return
                while True:
                    yield pickle.load(file)
        # The last result may be half written.
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError):
            return

    def add(self, token: str, result: Any) -> None:
        """Append a result."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        is_first = not self.kept
        self.kept[token] = result
        with self._path.open("wb" if is_first else "ab") as file:
            if is_first:
                pickle.dump(self._key, file)
            pickle.dump((token, result), file)

    def close(self) -> None:
        """Remove what is no longer needed: the examination is finished."""
        self._path.unlink(missing_ok=True)
