"""What is wrong with somebody's statement: the line of their file, and what to write instead."""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from pathlib import Path

import theory
import verify
from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.language.expression import Expression, Operation, SortError
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Form, Hypothesis, Reading, Statement, Verdict

VOCABULARY = (
    "theory.language.operations",
    "theory.unit",
    "theory.language.expression",
    "theory.claim",
    "theory.statement",
    "theory.matrix_claim",
    "theory.expectation_claim",
    "theory.layer",
    "theory.maps",
    "theory.descent",
    "theory.random_matrix",
)
"""Where the names that statements are written with come from, the likeliest first."""
CHOICES: tuple[type[Enum], ...] = (Reading, Verdict, Form, Kind)
OURS = [Path(package.__path__[0]).resolve() for package in (theory, verify)]
"""The folders whose lines are not to blame."""
OF_LOOKING = "data-dependent control flow"
LOOKS = "it looks at the numbers that it is given, and these are many instances' at once"
"""What is said where PyTorch says the other."""
EXAMPLES = {
    "id": 'id="mine-1"',
    "locations": 'locations=(Location("notes", 1, "Sect. 2, eq. (3)", "a few words of it"),)',
    "expected": "expected=Verdict.PROVED",
    "subject": "subject=Kind.LAYER",
}
"""How a field that is missing may look."""


def error(raised: BaseException, root: Path) -> str:
    """Return where in somebody's files an error came up, what it says, and what to write.

    Args:
        raised: the error.
        root: the folder of their files.
    """
    said = LOOKS if OF_LOOKING in str(raised) else str(raised) or type(raised).__name__
    hint = next((found for advise in ADVICE if (found := advise(raised, said))), "")
    advice = f"\n  {hint}" if hint else ""
    if isinstance(raised, SyntaxError) and raised.filename:
        return f"{raised.filename}:{raised.lineno}: {raised.msg}{_shown(raised.text)}"
    frames = traceback.extract_tb(raised.__traceback__)
    theirs = [frame for frame in frames if is_theirs(Path(frame.filename), root)]
    if not theirs:
        return f"{type(raised).__name__}: {said}{advice}"
    places = [(frame.filename, frame.lineno or 0) for frame in reversed(theirs)]
    fields = ((file, _field_of(Path(file), line, said)) for file, line in places)
    file, number = next(((file, line) for file, line in fields if line), places[0])
    linecache.checkcache(file)
    return f"{file}:{number}: {said}{_shown(linecache.getline(file, number))}{advice}"


def is_theirs(file: Path, root: Path) -> bool:
    """Whether a file below a folder of theirs is none of ours, or of an installed package."""
    if not file.is_relative_to(root) or any(file.is_relative_to(folder) for folder in OURS):
        return False
    return "site-packages" not in file.relative_to(root).parts


def _field_of(file: Path, line: int, said: str) -> int:
    """Return the line of the field that an error names, in a call that begins at a line; or 0."""
    fields = (field for call in _calls_at(file, line) for field in call.keywords)
    named = (f for f in fields if f" {f.arg}=" in said or f"'{f.arg}'" in said)
    return next((field.lineno for field in named), 0)


def _calls_at(file: Path, line: int) -> Iterator[ast.Call]:
    """Yield the calls that begin at a line of a file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.lineno == line:
            yield node


def _shown(line: str | None) -> str:
    return f"\n    {line.strip()}" if line and line.strip() else ""


def place_of(claim: Statement, root: Path) -> str:
    """Return the file and line where a statement was made.

    That is where its identifier is written, or else where their module calls what made it.

    Args:
        claim: the statement.
        root: the folder of their files.
    """
    theirs = [(Path(file), line) for file, line in claim.made_at if is_theirs(Path(file), root)]
    for file, line in theirs:
        for node in (node for call in _calls_at(file, line) for node in ast.walk(call)):
            if isinstance(node, ast.Constant) and node.value == claim.id:
                return f"{file}:{node.lineno}"
    return ":".join(map(str, theirs[-1])) if theirs else "a list of statements"


# ---- what to write instead ----


def _a_name(raised: BaseException, said: str) -> str:
    if not isinstance(raised, NameError) or not raised.name:
        return ""
    for module in VOCABULARY:
        if raised.name in _offered(module):
            return f"write: from {module} import {raised.name}"
    for module in VOCABULARY:
        if near := _near(raised.name, module):
            return f"{module} has {near}"
    return "define it, or import it; theory.unit has the letters of one unit's batch"


def _an_import(raised: BaseException, said: str) -> str:
    asked = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", said)
    if not isinstance(raised, ImportError) or asked is None:
        return ""
    name, module = asked.groups()
    elsewhere = [m for m in VOCABULARY if m != module and name in _offered(m)]
    if elsewhere:
        return f"write: from {elsewhere[0]} import {name}"
    near = _near(name, module)
    return f"{module} has {near}" if near else ""


def _near(name: str, module: str) -> str:
    return ", ".join(_alike(name, _offered(module)))


def _alike(name: str, names: Iterable[str]) -> list[str]:
    return get_close_matches(name, list(names), n=3, cutoff=0.6)


def _offered(module: str) -> list[str]:
    """Return the names that a module has for statements: its letters, operations and classes."""
    return [
        name
        for name, value in vars(import_module(module)).items()
        if not name.startswith("_")
        if isinstance(value, Expression | Operation | type)
        or getattr(value, "__module__", "") == module
    ]


def _a_choice(raised: BaseException, said: str) -> str:
    for kind in CHOICES:
        if f"not a valid {kind.__name__}" in said or (
            isinstance(raised, AttributeError) and raised.obj is kind
        ):
            return "write one of " + ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
    return ""


def _a_chain(raised: BaseException, said: str) -> str:
    if not any(words in said for words in ("neither true nor false", *OF_TRUTHS)):
        return ""
    return (
        "a <= b <= c, a <= b and c <= d, and max(a, b) <= c are two statements: write each as a "
        "claim of its own, or one of them as a hypothesis, hypotheses=(assume(a <= b),); the larger"
        " of two numbers is maximum(a, b), of theory.language.arrays"
    )


def _fields(raised: BaseException, said: str) -> str:
    if not isinstance(raised, TypeError):
        return ""
    if "missing" in said and "keyword-only" in said:
        names = re.findall(r"'(\w+)'", said)
        return "write also " + ", ".join(EXAMPLES.get(name, f"{name}=...") for name in names)
    unexpected = re.match(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'", said)
    kinds = {kind.__name__: kind for kind in (Claim, MatrixClaim, ExpectationClaim, Hypothesis)}
    if unexpected is None or unexpected[1] not in kinds:
        return ""
    known = [field.name for field in fields(kinds[unexpected[1]])]
    near = _alike(unexpected[2], known)
    return f"write {near[0]}=" if near else f"it takes {', '.join(known)}"


def _sorts(raised: BaseException, said: str) -> str:
    if not isinstance(raised, SortError):
        return ""
    if said.startswith("a sum") and "a vector" in said and "a number" in said:
        return "write a number as a multiple of a vector of ones, such as 2 * one"
    if "is compared with" in said:
        return "compare numbers with numbers: norm2(x), dot(a, b), or 0 for a vector of zeros"
    return ""


def _taken_for_another(raised: BaseException, said: str) -> str:
    if not isinstance(raised, TypeError | AttributeError):
        return ""
    fitting = (advice for words, advice in MISTAKEN if any(word in said for word in words))
    return next(fitting, "")


def _looking(raised: BaseException, said: str) -> str:
    if said != LOOKS:
        return ""
    return (
        "write it of operations that do not branch or sort: largest_entry and smallest_entry of"
        " theory.layer are those of any vector, maximum and absolute of theory.language.arrays"
    )


OF_NUMBERS = (
    "bad operand type for",
    "real number, not",
    "attribute 'sqrt'",
    "attribute 'T'",
    "does not support ufuncs",
    "doesn't define __",
)
OF_LISTS = "not subscriptable", "not iterable", "has no len()"
OF_OPERATORS = (
    "operand type(s) for @: 'function'",
    "operand type(s) for @: 'Operation'",
    "instances of 'function'",
)
OF_EXPONENTS = ("operand type(s) for **",)
OF_WHOLE_NUMBERS = "operand type(s) for //", "operand type(s) for %"
OF_TRUTHS = "operand type(s) for &", "operand type(s) for |", "unary ~"
OF_FUNCTIONS = "'Letter' object is not callable", "'Abbreviation' object is not callable"
MISTAKEN = (
    (
        OF_NUMBERS,
        "an expression is no number: write it by theory.language.operations, such as absolute(x),"
        " sqrt(x) or norm2(x)",
    ),
    (
        OF_LISTS,
        "a vector is written as a whole, whatever its length: dot(one, y) is the sum of its "
        "entries, entrywise(y, y) has their squares",
    ),
    (OF_OPERATORS, "an operator is a function: write H(u), hessian(u)"),
    (OF_EXPONENTS, "an exponent is a whole number, such as 2 in gamma**2; a root is sqrt(x)"),
    (OF_WHOLE_NUMBERS, "a quotient is a / b; there is no rounding, nor a remainder"),
    (
        OF_FUNCTIONS,
        "a letter is a number or a vector, and no function; of y are deviation(y), normalize(y), "
        "BN(y) and Lhat(y)",
    ),
)
"""What Python and NumPy say where an expression is taken for a number, or a vector for a list."""
ADVICE: Sequence[Callable[[BaseException, str], str]] = (
    _a_name, _an_import, _a_choice, _a_chain, _fields, _sorts, _taken_for_another, _looking,
)  # fmt: skip
"""What may help, for the first kind of error that fits."""
