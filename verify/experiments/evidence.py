r"""What an experiment found, as a file of JSON: how it was run, the numbers, the observations.

Floats are finite; what is not is written as null.  Beside the file lie the figures, each as SVG
and as PNG.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from verify import json_lines
from verify.evidence import EvidenceError, Run, writing
from verify.experiments.experiment import Numbers, Observation, Picture
from verify.settings import DEFAULT_EVIDENCE

SCHEMA = 1
FOLDER = "experiments"
FILE = "numbers.json"
WITHOUT_DATA = "no data folder"


@dataclass(frozen=True)
class Result:
    """What an experiment found."""

    name: str
    title: str
    rows: tuple[str, ...]
    description: str
    profile: str
    seeds: tuple[int, ...]
    data: str
    """The name of the user's folder of data, without what lies above it; or that there is none."""
    run: Run
    seconds: dict[str, float]
    """The time of each piece."""
    pieces: dict[str, Any]
    """What each piece measured."""
    observations: tuple[Observation, ...] = ()
    pictures: tuple[Picture, ...] = ()


def folder_of(evidence: Path, name: str) -> Path:
    """Return the folder of an experiment's evidence."""
    return evidence / FOLDER / name


def as_json(numbers: Numbers) -> dict[str, Any]:
    """Return numbers as they come back from a file of JSON, those that are not finite as None.

    Raises:
        TypeError: something is neither a number, nor a string, nor made of them.

    >>> as_json({"loss": [1.0, float("nan")], "steps": {1: (2, 3)}})
    {'loss': [1.0, None], 'steps': {'1': [2, 3]}}
    """
    made: dict[str, Any] = json.loads(json.dumps(_finite(numbers, "numbers"), allow_nan=False))
    return made


def write(folder: Path, result: Result) -> Path:
    """Write a result, as a whole or not at all, and return its file.

    Raises:
        EvidenceError: the folder cannot be written to.
    """
    path = folder / FILE
    with writing(folder, "numbers"):
        folder.mkdir(parents=True, exist_ok=True)
        json_lines.write(path, [{"schema": SCHEMA, **asdict(result)}])
    return path


def read(folder: Path) -> Result:
    """Return the result that a folder holds.

    Raises:
        EvidenceError: there is none, or it is damaged or of another form.
    """
    path = folder / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or found.pop("schema", None) != SCHEMA:
            raise TypeError(f"no result of schema {SCHEMA}")
        return json_lines.made(Result, found)
    except FileNotFoundError:
        raise EvidenceError(
            f"{path} cannot be read, as there is none; run '{_command(folder)}' first, or name"
            " another folder"
        ) from None
    except OSError as error:
        raise EvidenceError(
            f"{path} cannot be read ({error.strerror}); name another folder"
        ) from None
    except (ValueError, TypeError) as error:
        raise EvidenceError(
            f"{path} is damaged ({error}); run '{_command(folder)}' again, or name another folder"
        ) from None


def read_all(evidence: Path) -> list[Result]:
    """Return all results below a folder of evidence, by name; none where nothing was run.

    Raises:
        EvidenceError: one of them is damaged.
    """
    return [read(path.parent) for path in sorted((evidence / FOLDER).glob(f"*/{FILE}"))]


def drawings(folder: Path, result: Result) -> dict[str, str]:
    """Return the SVG documents of a result's pictures, by the pictures' names.

    Raises:
        EvidenceError: one is missing.
    """
    names = [picture.name for picture in result.pictures]
    try:
        return {name: (folder / f"{name}.svg").read_text(encoding="utf-8") for name in names}
    except OSError as error:
        raise EvidenceError(
            f"{error.filename} cannot be read ({error.strerror}); run '{_command(folder)} --redraw'"
        ) from None


def _command(folder: Path) -> str:
    """Return the command that runs the experiment of a folder, and keeps its numbers there."""
    kept = folder.parent.parent
    where = [] if kept == DEFAULT_EVIDENCE else ["--evidence", str(kept)]
    return shlex.join(["python", "-m", "verify", "experiment", folder.name, *where])


def _finite(value: object, place: str) -> object:
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _finite(part, f"{place}[{key!r}]") for key, part in value.items()}
    if isinstance(value, Sequence):
        return [_finite(part, f"{place}[{index}]") for index, part in enumerate(value)]
    raise TypeError(f"{place} is of type {type(value).__name__}; numbers are plain JSON")
