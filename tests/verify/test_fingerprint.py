"""A fingerprint is the same in every process, and another for another statement or budget."""

import ast
import importlib
import re
import sys
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from math import inf

import numpy as np
import pytest

from theory import layer
from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim, FailsAt, mean
from theory.language.arrays import norm2
from theory.layer import frobenius2
from theory.matrix_claim import Kind, MatrixClaim
from theory.random_matrix import G, N, n
from theory.santurkar2018 import theorem_4_1
from theory.statement import Reading, Sides, Verdict, assume
from theory.unit import gamma
from verify import engine
from verify.fingerprint import (
    _words,
    fingerprint,
    of_code,
    of_module,
    of_statement,
    statements,
)
from verify.settings import NOTHING, PROFILES, READ, WHERE, Budget, Settings
from verify.sources import OURS, ROOT, imports, sources

CLAIM, WITNESS = theorem_4_1.PRINTED, engine.WITNESSES[0]
DRAWING = next(witness for witness in engine.WITNESSES if witness.name == "autograd")
SETTINGS = Settings(PROFILES["smoke"])
OTHERWISE = Settings(replace(PROFILES["deep"], sizes=(1,)), 1, "torch", "cpu")
LITTLE = Settings(Budget(1, 1, 2, 1, 1, (2,), ("trained",)))


def test_a_function_of_another_package_goes_by_its_name_and_not_by_its_address():
    assert of_code(np.max) == "numpy.max"


def test_no_statement_goes_by_the_address_of_anything():
    texts = {str(word) for claim in engine.CLAIMS for word in _words(claim)}
    assert not [text for text in texts if re.search(r" at 0x[0-9a-f]+", text)]


def test_what_is_said_of_a_statement_does_not_make_it_another():
    told = replace(CLAIM, remark="another", title="another")
    assert fingerprint(told, WITNESS, SETTINGS) == fingerprint(CLAIM, WITNESS, SETTINGS)


def test_another_right_side_a_seed_and_a_budget_make_it_another():
    wrong = replace(CLAIM, says=CLAIM.says.actual <= 2 * CLAIM.says.claimed)
    others = [(wrong, SETTINGS), (CLAIM, replace(SETTINGS, seed=1)), (CLAIM, OTHERWISE)]
    marks = {fingerprint(claim, DRAWING, at) for claim, at in [(CLAIM, SETTINGS), *others]}
    assert len(marks) == 4


def test_what_a_witness_does_not_read_does_not_make_it_another():
    assert fingerprint(CLAIM, WITNESS, OTHERWISE) == fingerprint(CLAIM, WITNESS, SETTINGS)
    in_other_arrays = replace(SETTINGS, backend="torch")
    assert fingerprint(CLAIM, DRAWING, in_other_arrays) == fingerprint(CLAIM, DRAWING, SETTINGS)


@pytest.mark.parametrize("name", READ)
def test_a_witness_that_reads_a_setting_finds_anew_where_it_is_another(name):
    reading = replace(WITNESS, reads=(name,))
    was, other = (s if name in WHERE else s.budget for s in (SETTINGS, OTHERWISE))
    assert getattr(other, name) != getattr(was, name)
    assert fingerprint(CLAIM, reading, OTHERWISE) != fingerprint(CLAIM, reading, SETTINGS)


MEASURED = ExpectationClaim(
    id="measured",
    locations=(),
    says=mean(frobenius2(G)) / (N * n) <= 2,
    ceilings=lambda entries: Sides(inf, inf),
    expected=Verdict.SUPPORTED,
)
OF_MATRICES = MatrixClaim(
    id="matrices",
    locations=(),
    says=norm2(layer.gamma) >= 0,
    subject=Kind.LAYER,
    expected=Verdict.PROVED,
)
CHANGES = {
    "id": "other", "expected": Verdict.SUPPORTED, "reading": Reading.SHARED_EPSILON,
    "hypotheses": (assume(gamma > 0),), "attack": (sorted,),
}  # fmt: skip
"""Another value of each field that may change a verdict."""
OF_BOUNDS = {"says": gamma**2 <= gamma**8, "because": gamma**2}
OF_MATRICES_ALONE = {
    "says": norm2(layer.gamma) > 0,
    "because": norm2(layer.gamma),
    "subject": Kind.MAPS,
}
OF_EXPECTATIONS = {
    "says": mean(frobenius2(G)) / (N * n) <= 3, "ceilings": max, "expected": Verdict.REFUTED,
    "fails_at": FailsAt("signs", 2, 2, N, n, "both are two"),
}  # fmt: skip
SAID_OF_IT = {
    "result", "locations", "title", "in_words", "display", "form", "amends", "corrected_by",
    "unreadable", "remark", "sizes",
}  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "changes"),
    [
        (CLAIM, CHANGES | OF_BOUNDS),
        (OF_MATRICES, CHANGES | OF_MATRICES_ALONE),
        (MEASURED, CHANGES | OF_EXPECTATIONS),
    ],
)
def test_each_field_that_may_change_a_verdict_makes_a_statement_another(claim, changes):
    marks = {of_statement(replace(claim, **{name: new})) for name, new in changes.items()}
    assert len(marks - {of_statement(claim)}) == len(changes)


def test_every_field_may_change_a_verdict_or_is_said_of_a_statement():
    known = {*CHANGES, *OF_BOUNDS, *OF_MATRICES_ALONE, *OF_EXPECTATIONS, *SAID_OF_IT}
    assert {
        f.name for kind in (Claim, MatrixClaim, ExpectationClaim) for f in fields(kind)
    } == known


class Watched:
    """Settings, or a budget, that note what is read of them."""

    def __init__(self, watched, met):
        self._watched, self._met = watched, met

    def __getattr__(self, name):
        self._met.add(name)
        found = getattr(self._watched, name)
        return Watched(found, self._met) if name == "budget" else found


@pytest.mark.parametrize(
    "witness",
    [w for w in engine.WITNESSES if "stages" not in w.reads],  # the others train for long
    ids=lambda w: w.examine.args[0].module,
)
def test_a_witness_reads_what_it_says(witness):
    claim = next(c for c in engine.CLAIMS if not c.unreadable and witness.applies(c))
    met = set()
    list(witness.examine([claim], Watched(LITTLE, met)))
    assert met - {"budget", "cache"} == set(witness.reads)


def test_what_a_witness_does_not_read_it_is_not_given():
    only = Settings(PROFILES["deep"], 7, "torch", "cpu", claims="theirs").only(("seed", "steps"))
    assert only == Settings(replace(NOTHING, steps=PROFILES["deep"].steps), 7, claims="theirs")


def test_how_evidence_is_kept_and_shown_outdates_none_of_it():
    modules = {name for name in sys.modules if name.startswith("verify.witnesses")}
    files = {file.name for module in modules for file in sources(module)}
    assert {"record.py", "results.py"} <= files
    assert not files & {"evidence.py", "json_lines.py", "engine.py", "ledger.py", "terminal.py"}


def test_no_import_of_ours_is_overlooked():
    files = [file for name in OURS for file in (ROOT / name).rglob("*.py")]
    assert len(files) > 400
    for file in files:
        text = file.read_text()
        every = {node for node in statements(file) if isinstance(node, ast.Import | ast.ImportFrom)}
        assert {*map(ast.unparse, imports(text))} == {*map(ast.unparse, every)}, file


class Doubling:
    def applied(self, x):
        return 2 * x


class Tripling:
    def applied(self, x):
        return 3 * x


def test_a_method_goes_by_its_code():
    assert of_code(Doubling().applied) == of_code(Doubling().applied)
    assert of_code(Doubling().applied) != of_code(Tripling().applied)
    assert of_code(Doubling().applied) != of_code(partial(Doubling().applied))
    assert "Doubling" not in of_code(Doubling().applied)  # a name alone would be no code


@dataclass(frozen=True)
class Multiple:
    factor: int

    def __call__(self, x):
        return self.factor * x


def holding(held):
    return lambda x: held[0] * x


def test_what_a_function_holds_counts():
    assert of_code(Multiple(2)) == of_code(Multiple(2)) != of_code(Multiple(3))
    assert of_code(Multiple(2)) != repr(Multiple(2))  # its class's code counts
    assert of_code(holding([2])) == of_code(holding([2])) != of_code(holding([3]))
    assert of_code(holding([Multiple(2)])) != of_code(holding([Multiple(3)]))
    doubling, tripling = (lambda x, by=by: by * x for by in (2, 3))
    assert of_code(doubling) != of_code(tripling)


def test_functions_without_a_name_are_told_apart():
    assert of_code(layer.n.value) != of_code(layer.features.value)
    one, other = lambda x: x, lambda x: -x
    assert of_code(one) != of_code(other)


def test_a_function_may_hold_itself():
    def halved(x):
        return halved(x / 2) if x > 1 else x

    assert len(of_code(halved)) == len(of_code(holding([2])))


@cache
def remembering(x):
    return 2 * x


@cache
def remembering_more(x):
    return 3 * x


def test_a_function_that_remembers_goes_by_its_code():
    assert of_code(remembering) != of_code(remembering_more)
    assert "remembering" not in of_code(remembering)


@pytest.fixture
def own_files(tmp_path, monkeypatch):
    """A file of statements, and a package below its folder from which it takes a number."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "forms.py").write_text("def factor():\n    return 1\n")
    (tmp_path / "own_notes.py").write_text(
        "import lib.forms\n\ndef side(x):\n    return lib.forms.factor()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("own_notes", "lib", "lib.forms"):
        sys.modules.pop(name, None)


def test_what_a_file_imports_from_below_its_folder_counts(own_files):
    side = importlib.import_module("own_notes").side
    before = of_module("own_notes")
    (own_files / "lib" / "forms.py").write_text("def factor():\n    return 0\n")
    assert of_module("own_notes") != before
    assert side(1) == 1  # what is loaded is not loaded again
