"""What a target names: an attribute of a module or of a file, or a whole file."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any


class TargetError(Exception):
    """A target that names nothing, with what to do."""


def load(target: str) -> Any:
    """Return what ``package.module:name``, ``path/to/file.py:name`` or a file names.

    Raises:
        TargetError: no such module, file or attribute; or importing it failed.
    """
    place, _, name = target.partition(":")
    module = imported_file(Path(place)) if place.endswith(".py") else _imported(place, target)
    found: Any = module
    for part in filter(None, name.split(".")):
        if not hasattr(found, part):
            offered = [n for n, it in vars(found).items() if callable(it) and n[0] != "_"]
            near = get_close_matches(part, offered, n=1)
            raise TargetError(
                f"{place} has no {part!r}; "
                + (f"did you mean {near[0]!r}? " if near else "")
                + f"it has {', '.join(offered) or 'no functions or classes'}"
            )
        found = getattr(found, part)
    return found


def absolute(target: str) -> str:
    """Return a target that names the same in another folder: a file by its whole path.

    >>> absolute("package.module:name")
    'package.module:name'
    """
    place, colon, name = target.partition(":")
    return f"{Path(place).resolve()}{colon}{name}" if place.endswith(".py") else target


def imported_file(path: Path) -> ModuleType:
    """Return a file as a module.

    Raises:
        TargetError: there is no such file, or it cannot be imported.
    """
    if not path.is_file():
        raise TargetError(f"there is no file {path}; give path/to/file.py:name")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        raise TargetError(f"{path} cannot be imported: {_said(error)}") from error
    return module


def _imported(place: str, target: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        raise TargetError(
            f"{target!r} cannot be found ({error}); give package.module:name, importable from "
            "here, or path/to/file.py:name"
        ) from error
    except Exception as error:
        raise TargetError(f"{place} cannot be imported: {_said(error)}") from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
