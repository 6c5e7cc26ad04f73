"""Put a mutant in the place of the original: as a module of its own, or in the live functions."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

from mutants import ROOT, Mutant
from users import Place, place_of, users

from theory.arithmetic import sqrt
from theory.claim import Claim


def loaded(mutant: Mutant) -> dict[str, Any]:
    """Return the names of the mutated module, run afresh; nothing else sees it."""
    names = {"__name__": _title(mutant.file), "sqrt": sqrt}
    exec(compile(mutant.source, _title(mutant.file), "exec"), names)
    return names


def claims_with(mutant: Mutant) -> list[Claim]:
    """Return the module's claims that compute with the mutated function, made afresh with it.

    Where there are none, return those of other modules: the mutated one is put in the place of
    the original while the modules that are made with it are imported again.
    """
    place = place_of(mutant.source, mutant.function, _title(mutant.file))
    own = users(loaded(mutant).get("CLAIMS", ()), place)
    return own or _claims_elsewhere(mutant, place)


def claims_elsewhere(mutant: Mutant) -> list[Claim]:
    """Return the claims of other modules that compute with the mutated function."""
    return _claims_elsewhere(mutant, place_of(mutant.source, mutant.function, _title(mutant.file)))


def _claims_elsewhere(mutant: Mutant, place: Place) -> list[Claim]:
    with _forgotten(mutant.file):
        module = ModuleType(_title(mutant.file))
        vars(module).update(loaded(mutant))
        sys.modules[_name(mutant.file)] = module
        modules = [importlib.import_module(_name(file)) for file in importers(mutant.file)]
    return users([claim for module in modules for claim in module.CLAIMS], place)


@contextmanager
def _forgotten(file: str) -> Iterator[None]:
    """Let a module, and those that are made with it, be imported again for a while."""
    package = _name(file).rpartition(".")[0]
    empty = ModuleType(package)
    empty.__path__ = sys.modules[package].__path__
    with patch.dict(sys.modules):
        for each in (file, *dependents(file)):
            del sys.modules[_name(each)]
        for name, module in sys.modules.items():
            if name.startswith(f"{package}."):
                setattr(empty, name.rpartition(".")[2], module)
        sys.modules[package] = empty
        yield


def originals(file: str) -> dict[str, Claim]:
    """Return the claims of a module and of those that are made with it, by identifier."""
    files = [file, *importers(file)] if _has_claims(file) else importers(file)
    modules = [importlib.import_module(_name(file)) for file in files]
    return {claim.id: claim for module in modules for claim in module.CLAIMS}


@cache
def dependents(file: str) -> list[str]:
    """Return the files next to a module that import from it, and those that import from these."""
    waiting, found = [file], []
    while waiting:
        each = waiting.pop()
        direct = [
            other for other, names in _imports(str(Path(file).parent)).items() if each in names
        ]
        waiting += [other for other in direct if other not in found]
        found += [other for other in direct if other not in found]
    return sorted(found)


@cache
def importers(file: str) -> list[str]:
    """Return those of the dependents that have claims."""
    return [other for other in dependents(file) if _has_claims(other)]


@cache
def _imports(folder: str) -> dict[str, set[str]]:
    """Return, for the modules of a folder, the files that each imports from."""
    return {
        path.relative_to(ROOT).as_posix(): {
            f"{name.replace('.', '/')}.py"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and node.module
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        }
        for path in (ROOT / folder).glob("*.py")
        if path.name != "__init__.py"
    }


@cache
def _has_claims(file: str) -> bool:
    return "\nCLAIMS = [" in (ROOT / file).read_text()


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Make the mistake in the live function for a while, whoever imported it under what name."""
    module = _module(mutant)
    function = live(mutant)
    original, had_sqrt = function.__code__, hasattr(module, "sqrt")
    module.__dict__.setdefault("sqrt", sqrt)
    function.__code__ = _code(compile(mutant.source, str(mutant), "exec"), mutant.function)
    try:
        yield
    finally:
        function.__code__ = original
        if not had_sqrt:
            del module.__dict__["sqrt"]


def live(mutant: Mutant) -> FunctionType:
    """Return the function of the imported module that a mutant has a mistake in."""
    module = _module(mutant)
    owners = [module, *(v for v in vars(module).values() if isinstance(v, type))]
    return next(f for o in owners if isinstance(f := vars(o).get(mutant.function), FunctionType))


def _module(mutant: Mutant) -> ModuleType:
    return importlib.import_module(_name(mutant.file))


def _title(file: str) -> str:
    """Return what a mutated file is called, in the place of its path."""
    return f"mutant of {file}"


def _name(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _code(code: CodeType, name: str) -> CodeType:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    found = [c for c in inner if c.co_name == name]
    return found[0] if found else next(_code(c, name) for c in inner if _holds(c, name))


def _holds(code: CodeType, name: str) -> bool:
    return any(isinstance(c, CodeType) and c.co_name == name for c in code.co_consts)
