r"""Checkpoints: where a killed experiment is taken up again.

One file a piece, written as a whole or not at all (:mod:`verify.subjects.cache`), beside a file
that says what run they belong to.  A run that could give other numbers - other source, another
setting, another PyTorch, other threads - starts afresh.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch

from verify.datasets.dataset import state_of
from verify.evidence import Run, writing
from verify.experiments.experiment import Experiment, Setting
from verify.fingerprint import of_module
from verify.subjects.cache import CacheError, read_tensors, write_tensors

Identity = Mapping[str, str]
IDENTITY_FILE = "run.json"
PLAIN = (int, float, bool, str, type(None))
"""What a state holds besides tensors, and lists, tuples and dictionaries."""


@dataclass(frozen=True)
class Checkpoint:
    """How far a piece has come."""

    state: dict[str, Any] | None
    """What :meth:`Piece.state_dict` returned; None once the piece is finished."""
    numbers: dict[str, Any]
    """What was measured, if the piece is finished."""
    seconds: float
    """The piece's time so far, over all runs."""


class Checkpoints:
    """The checkpoints of one run of one experiment.

    Those that another run left in the folder are deleted after a warning that says how it differs.

    Args:
        folder: where they are kept; made if need be.
        identity: of the run (:func:`identity`).

    Raises:
        EvidenceError: the folder cannot be written to.
    """

    def __init__(self, folder: Path, identity: Identity):
        self.folder = folder
        self.digest = hashlib.sha256(json.dumps(dict(identity)).encode()).hexdigest()
        with writing(folder, "checkpoints"):
            folder.mkdir(parents=True, exist_ok=True)
            difference = _difference(folder / IDENTITY_FILE, identity)
            if difference and any(self._files()):
                warnings.warn(f"{folder} is not resumed: {difference}", stacklevel=2)
                self.forget()
            if difference:
                (folder / IDENTITY_FILE).write_text(json.dumps(dict(identity), indent=1) + "\n")

    def load(self, piece: str) -> Checkpoint | None:
        """Return the checkpoint of a piece, or None where there is none.

        One that is damaged, or of something else, counts as none after a warning.
        """
        try:
            return self._checkpoint(self.file(piece), piece)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except CacheError as error:
            warnings.warn(f"{error}, or let it be: {piece} starts afresh", stacklevel=2)
            return None

    def keep(self, piece: str, checkpoint: Checkpoint) -> None:
        """Write the checkpoint of a piece.

        Raises:
            TypeError: the state holds something that could not be read again.
            EvidenceError: the folder cannot be written to.
        """
        for place, value in _foreign(checkpoint.state, "state"):
            raise TypeError(
                f"{piece}: {place} is of type {type(value).__name__}; a state holds tensors,"
                " numbers, strings, None, and lists, tuples and dictionaries of them"
            )
        content = {"run": self.digest, "piece": piece, **vars(checkpoint)}
        with writing(self.folder, "checkpoints"):
            write_tensors(self.file(piece), content)

    def forget(self) -> None:
        """Delete the checkpoints of all pieces."""
        for file in self._files():
            file.unlink()

    def file(self, piece: str) -> Path:
        """Return the file of a piece's checkpoint."""
        digest = hashlib.sha256(piece.encode()).hexdigest()[:8]
        return self.folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', piece)[:60]}-{digest}.pt"

    def _files(self) -> list[Path]:
        return list(self.folder.glob("*.pt"))

    def _checkpoint(self, file: Path, piece: str) -> Checkpoint:
        content = read_tensors(file)
        if not isinstance(content, dict) or content.get("run") != self.digest:
            raise CacheError(f"{file} is of another run; delete it")
        if content.get("piece") != piece:
            raise CacheError(f"{file} is of another piece; delete it")
        return Checkpoint(**{field.name: content[field.name] for field in fields(Checkpoint)})


def identity(experiment: Experiment, setting: Setting, run: Run) -> dict[str, str]:
    """Return all that tells whether another run would give the same numbers."""
    return {
        "experiment": experiment.name,
        **{name: str(value) for name, value in asdict(setting).items()},
        "state of the data": state_of(setting.data) if setting.data else "",
        "source": of_module(experiment.pieces.__module__),
        "torch": run.versions["torch"],
        "threads": str(run.threads),
    }


def _difference(file: Path, expected: Identity) -> str:
    """Return in words what another run's identity differs in, or nothing."""
    try:
        found = json.loads(file.read_text())
        if not isinstance(found, dict):
            raise ValueError
    except FileNotFoundError:
        return f"there is no {file.name} in it"
    except ValueError:
        return f"its {file.name} is damaged"
    return "; ".join(
        f"its {name} was {found.get(name, 'not said')}, now {value}"
        for name, value in expected.items()
        if found.get(name) != value
    )


def _foreign(value: object, place: str) -> Iterator[tuple[str, object]]:
    """Yield what does not belong into a file that is read without unpickling, with its place."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _foreign(part, f"{place}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _foreign(part, f"{place}[{index}]")
    elif not (isinstance(value, torch.Tensor) or type(value) in PLAIN):
        yield place, value
