"""Statements of others: a list in a module or a file of theirs, by the name that a command takes.

A target is ``package.module:NAME``, ``path/to/file.py:NAME``, either without the name, which is
then ``CLAIMS``, or the name under which an installed package offers a list in the entry point group
``batchnorm_theory.claims``.  Another process finds the same statements by the same target.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theory.catalogue import CatalogueError, Complaint, checked
from theory.statement import Statement
from verify import explained
from verify.targets import TargetError
from verify.targets import load as named

GROUP = "batchnorm_theory.claims"
NAME = "CLAIMS"


class OthersError(ValueError):
    """A target names no list of statements, or a wrong one; the message says where and why."""


def installed() -> dict[str, str]:
    """Return the targets that installed packages offer, by their names."""
    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


def resolved(target: str) -> str:
    """Return a target that means the same in another folder.

    >>> resolved("package.module")
    'package.module:CLAIMS'
    """
    place, _, name = installed().get(target, target).partition(":")
    if place.endswith(".py"):
        place = str(Path(place).resolve())
    return f"{place}:{name or NAME}"


def is_target(word: str) -> bool:
    """Whether a word of the command line names a list of statements, not a statement.

    >>> is_target("notes.py"), is_target("their_package.module"), is_target("S-thm-4.1")
    (True, True, False)
    """
    return ":" in word or word.endswith(".py") or word in installed() or _is_module(word)


def refuse_other_file(word: str) -> None:
    """Refuse a word that is a file's name without the ending of Python's files.

    Raises:
        OthersError: it is.
    """
    path = Path(word)
    if path.suffix != ".py" and path.is_file():
        raise OthersError(f"{word} does not end in .py, as a file of statements does; rename it")


def _is_module(word: str) -> bool:
    """Whether a word is the name of a module; of one without a package, that it is there."""
    is_name = all(map(str.isidentifier, word.split(".")))
    return is_name and ("." in word or find_spec(word) is not None)


def load(target: str) -> tuple[Statement, ...]:
    """Return the statements that a target names.

    Raises:
        OthersError: there are none, or they are wrong in themselves.
    """
    place, _, name = resolved(target).partition(":")
    if place.endswith(".py"):
        _refuse_taken_name(Path(place))
    try:
        listed = named(f"{place}:{name}")
    except TargetError as error:
        raise OthersError(_told(error, place, name)) from error
    except SystemExit as error:
        raise OthersError(explained.error(error, folder_of(place))) from error
    _refuse_no_list(listed, f"{target}: {name}")
    try:
        return checked(listed)
    except CatalogueError as error:
        raise OthersError(with_places(error.complaints, listed, target)) from error


def with_places(complaints: Sequence[Complaint], claims: Sequence[Statement], target: str) -> str:
    """Return complaints, a line for each statement, with its place in a target's files."""
    root = folder_of(target)
    lines = (
        f"{explained.place_of(claim, root)}: {complaint}"
        for complaint in complaints
        for claim in claims
        if claim.id == complaint.id
    )
    return "\n".join(dict.fromkeys(lines))


def _told(error: TargetError, place: str, name: str) -> str:
    """Return what is wrong, with the line of their file where there is one."""
    cause = error.__cause__
    module = sys.modules.get(Path(place).stem if place.endswith(".py") else place)
    if cause is None and module is not None:
        return f"{place} has no {name!r}; {_instead(vars(module), name)}"
    is_missing = isinstance(cause, ModuleNotFoundError) and place.startswith(str(cause.name))
    if cause is None or is_missing:
        return str(error)
    if isinstance(cause, SyntaxError) and not cause.filename:
        return f"{place}: is no Python ({cause})"
    return explained.error(cause, folder_of(place))


def _instead(made: Mapping[str, Any], name: str) -> str:
    """Return what a module has that may be meant, where it has no list of that name."""
    lists = [n for n, it in made.items() if _is_list(it)]
    if lists:
        near = get_close_matches(name, lists, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"{hint}it has {', '.join(lists)}"
    single = [n for n, it in made.items() if isinstance(it, Statement)]
    return f"write {name} = [{', '.join(single)}]" if single else "it has no list of statements"


def _is_list(it: Any) -> bool:
    """Whether something is a list with statements in it."""
    return isinstance(it, list | tuple) and any(isinstance(item, Statement) for item in it)


def _refuse_taken_name(path: Path) -> None:
    """Refuse a file that would stand in for a module of the same name."""
    known = sys.modules.get(path.stem)
    is_taken = known is not None and getattr(known, "__file__", None) != str(path)
    if is_taken or path.stem in sys.stdlib_module_names:
        raise OthersError(f"{path}: there is a module {path.stem!r} already; rename the file")


def _refuse_no_list(listed: Any, called: str) -> None:
    if isinstance(listed, Statement):
        raise OthersError(f"{called} is one statement; write [...] around it")
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise OthersError(f"{called} is {listed!r}; expected a list of statements")
    for number, item in enumerate(listed):
        if isinstance(item, list | tuple):
            raise OthersError(f"{called}[{number}] is a list; write * in front of it")
        if not isinstance(item, Statement):
            raise OthersError(
                f"{called}[{number}] is {item!r} of type {type(item).__name__}; expected a "
                "statement, such as Claim(id=..., says=..., ...)"
            )


def folder_of(target: str) -> Path:
    """Return the folder of the package, or of the file, that holds a target's statements."""
    place = resolved(target).partition(":")[0]
    if place.endswith(".py"):
        return Path(place).parent
    file = getattr(sys.modules.get(place.partition(".")[0]), "__file__", None)
    return Path(file).parent if file else Path.cwd()
