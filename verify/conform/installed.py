"""Whether code is installed, and how a Python elsewhere finds what is not."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

STANDARD = sysconfig.get_path("stdlib")
"""The folder of Python's own modules."""


def is_installed(file: str) -> bool:
    """Whether a file is Python's own, or of a package that is installed."""
    return file.startswith(STANDARD) or f"-packages{os.sep}" in file


def path_to(module: str) -> str:
    """Return what comes before the import of a module that was imported, in a script elsewhere.

    >>> path_to("numpy.linalg")
    ''
    """
    package = module.partition(".")[0]
    file = getattr(sys.modules.get(package), "__file__", None)
    if file is None:
        return ""
    path = Path(file).resolve()
    folder = path.parent.parent if path.name == "__init__.py" else path.parent
    is_searched = folder.name.endswith("-packages") or str(folder) == STANDARD
    return "" if is_searched else f"import sys; sys.path.insert(0, {str(folder)!r}); "
