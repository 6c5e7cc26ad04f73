"""The API reference: docstrings of the library, and every statement's module as it is.

What a package offers is listed on its page; anything else stands where it is defined, once.  A
module of statements has a page with its docstring and its code, which is short and says more than a
list of its functions.
"""

from __future__ import annotations

import ast
import inspect
import io
import pkgutil
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from verify.site.docstrings import escape_bars
from verify.sources import path_of

LIBRARY = {
    "theory": "The formulas, and what a claim is",
    "theory.arithmetic": "The arithmetics",
    "theory.language": "How a statement is written",
    "theory.nn": "Layers, networks and measures for PyTorch",
    "theory.convolution": "Convolutions as matrices that are never built",
}
STATEMENTS = {
    "theory.santurkar2018": "Statements of Santurkar et al. 2018",
    "theory.lange2022": "Statements of Lange et al. 2022",
}
LEFT_OUT = ("test_", "conftest", "__")
_FORMULA = re.compile(r":math:`([^`]*)`")
_ROLE = re.compile(r":\w+:(?=`)")
OPTIONS = "   :members:\n   :member-order: bysource\n"
DEFINED_THERE = "   :ignore-module-all:\n"


def pages() -> dict[str, str]:
    """Return the pages of the reference by file name."""
    of_package = {name: list(modules(name)) for name in LIBRARY}
    library = {m: _library_page(m) for found in of_package.values() for m in found}
    listed = {
        name: [module for module in modules(name) if not _is_package(module)] for name in STATEMENTS
    }
    statements = {m: _statement_page(m) for found in listed.values() for m in found}
    indices = {name: _list(STATEMENTS[name], found) for name, found in listed.items() if found}
    contents = {**library, **indices, **statements}
    index = _contents(of_package, list(indices))
    return {"index.md": index, **{f"{name}.md": text for name, text in contents.items()}}


def modules(package: str) -> Iterator[str]:
    """Yield the package and its modules, and those of packages that have no page of their own."""
    yield package
    for info in pkgutil.iter_modules([str(_file(package).parent)]):
        name = f"{package}.{info.name}"
        if name in (*LIBRARY, *STATEMENTS) or info.name.startswith(LEFT_OUT):
            continue
        yield from modules(name) if info.ispkg else (name,)


def _list(title: str, names: list[str]) -> str:
    """Return each module of statements with its docstring's first line."""
    return f"---\norphan: true\n---\n\n# {title}\n\n{_links(names)}"


def _first_line(name: str) -> str:
    r"""Return what a module is about, as Markdown.

    >>> _first_line("theory.lange2022.theorem_3")
    'Theorem 3: the preconditioned Hessian is $\\hat G^\\top S\\hat G$, (14), and what follows.'
    """
    line = _docstring(name).partition("\n")[0]
    return _ROLE.sub("", _FORMULA.sub(r"$\1$", line))


def _docstring(name: str) -> str:
    """Return a module's docstring, of which no more is read: to parse all of it takes long."""
    tokens = tokenize.generate_tokens(io.StringIO(_source(name)).readline)
    first = next(token for token in tokens if token.type not in (tokenize.COMMENT, tokenize.NL))
    is_there = first.type == tokenize.STRING
    return inspect.cleandoc(ast.literal_eval(first.string)) if is_there else ""


def _contents(of_package: dict[str, list[str]], indices: list[str]) -> str:
    packages = (
        f"## {LIBRARY[package]}\n\n{_links(found)}" for package, found in of_package.items()
    )
    return "\n".join(["# API reference\n", *packages, f"## Statements\n\n{_links(indices)}"])


def _links(names: list[str]) -> str:
    return "".join(f"- [{name}]({name}.md): {_first_line(name)}\n" for name in names)


def _library_page(name: str) -> str:
    options = OPTIONS if _is_package(name) else OPTIONS + DEFINED_THERE
    body = f"```{{eval-rst}}\n.. automodule:: {name}\n{options}\n```\n"
    return f"---\norphan: true\n---\n\n# {name}\n\n{body}"


def _statement_page(name: str) -> str:
    """The docstring and the code of a module, which is read and not documented member by member.

    For its docstring alone autodoc would import and analyse the module.
    """
    about = "\n".join(escape_bars(_docstring(name).splitlines()))
    return (
        f"---\norphan: true\n---\n\n# {name}\n\n"
        f"```{{eval-rst}}\n.. py:module:: {name}\n\n{about}\n```\n\n"
        f"````text\n{_source(name)}````\n"
    )


def _source(module: str) -> str:
    return _file(module).read_text(encoding="utf-8")


def _is_package(module: str) -> bool:
    return _file(module).name == "__init__.py"


def _file(module: str) -> Path:
    """Return a module's file.  Nothing is imported: what is for PyTorch would take seconds."""
    file = path_of(module)
    assert file is not None, f"{module} is no module of ours"
    return file
