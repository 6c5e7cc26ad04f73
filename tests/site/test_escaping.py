"""Evidence that anybody may have written puts no markup, no file and no command into a page."""

import json
import re
from dataclasses import asdict, replace

import pytest
from hostile import HOSTILE, SCRIPT, THEOREM, poisoned, write
from msgspec import convert
from site_cases import CLAIMS, COUNTEREXAMPLE, PROVED, RECORDS, REFUTED, RESULT

from theory.statement import Verdict
from verify import ledger
from verify.campaign.finding import of_record
from verify.evidence import Run
from verify.experiments.experiment import Observation, Picture
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof
from verify.site import (
    campaigns_page,
    counterexamples,
    experiments_page,
    findings,
    gpu_page,
    implementations_page,
)
from verify.site.axes import category_axis
from verify.site.build import write_pages
from verify.site.chart import Chart, svg

BY_ID = {claim.id: claim for claim in CLAIMS}
CODE = re.compile(r"^(`{3,})(sh|python|coq)\n.*?^\1$", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^`{3}\{raw\} html\n<script", re.MULTILINE)


def leaks(text):
    """What of the markup stands in a page outside of blocks of code, where it is only shown."""
    shown = CODE.sub("", text)
    found = [word for word in (SCRIPT, "<img src=x", "<b><") if word in shown]
    return found + DIRECTIVE.findall(shown)


def test_what_leaks_is_seen():
    assert leaks(HOSTILE)
    assert leaks(f"a\n\n```{{raw}} html\n{SCRIPT}\n```")
    assert leaks(f"```sh\necho\n```\n\n{SCRIPT}\n```\n")
    assert not leaks(f"````sh\n{HOSTILE}\n````\n")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The site's sources from a folder of evidence whose texts are all hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    write(folder / "evidence")
    write_pages(folder / "evidence", folder / "docs", CLAIMS, folder / "nothing")
    return folder / "docs"


def test_no_page_and_no_picture_takes_markup_from_the_evidence(written):
    files = [path for kind in ("md", "svg") for path in written.rglob(f"*.{kind}")]
    assert {path.name: found for path in files if (found := leaks(path.read_text()))} == {}
    refuted = (written / "statements" / f"{REFUTED}.md").read_text()
    assert "1/4 + √2/3" in refuted
    assert "onerror" in refuted


def test_a_token_that_is_none_is_not_offered_to_a_shell(written):
    page = (written / "statements" / f"{PROVED}.md").read_text()
    assert f"verify check {PROVED}" in page
    assert "verify reproduce" not in page
    entry = ledger.entry(BY_ID[PROVED], RECORDS[2:3])
    assert 'verify reproduce "random:generic:0:1"' in findings.reproduction(entry)


@pytest.mark.parametrize("about", ["a batch", "matrices", "a law"])
def test_a_counterexample_is_plain_text_whatever_its_keys_and_values_are(about):
    claim = BY_ID[REFUTED]
    found = convert(poisoned(asdict(COUNTEREXAMPLE)), Counterexample)
    strange = {key + HOSTILE: value for key, value in found.numbers.items()}
    found = replace(found, numbers=found.numbers | strange)
    if about != "a batch":
        found = replace(found, size={HOSTILE: 2})
    if about == "a law":
        found = replace(found, distribution=HOSTILE)
    entry = ledger.entry(claim, [Record(claim.id, "exact", 1, 1, counterexample=found)])
    assert entry.verdict is Verdict.REFUTED
    for said in (counterexamples.sentence(found, claim), findings.counterexample(entry)):
        assert not leaks(said)
        assert not set("`\n") & set(said.strip())


def test_a_theorem_is_shown_as_code():
    records = [Record(PROVED, "kernel", proof=Proof((EVERY_M,)), theorem=THEOREM)]
    said = findings.theorem(ledger.entry(BY_ID[PROVED], records))
    assert not leaks(said)
    assert "rests on `" in said


def test_an_experiment_takes_no_markup():
    run = Run(**poisoned(asdict(RESULT.run)))
    hostile = replace(
        RESULT,
        **dict.fromkeys(("name", "title", "description", "profile", "data"), HOSTILE),
        rows=(HOSTILE,),
        run=replace(run, versions={HOSTILE: HOSTILE}),
        observations=(Observation(HOSTILE, HOSTILE, HOSTILE, True, HOSTILE),),
        pictures=(Picture(HOSTILE, HOSTILE, HOSTILE),),
    )
    assert not leaks(experiments_page.page(hostile, {HOSTILE: (1, 1)}, {}))
    assert not leaks(experiments_page.index([replace(hostile, name="dln")], [], []))


LINE = {
    "name": "a layer", "family": "BatchNorm", "framework": "jax 1", "library": "jax",
    "version": "1", "measured": "today", "versions": {"jax": "1"}, "reason": "", "target": "a:b",
    "threads": ["https://github.com/a/b/issues/1"], "kinds": ["plain"], "script": "x",
    "diagnosis": [{"guess": "g", "sentence": "s", "mode": "m", "output": "o"}],
    "not_offered": {"mode": "reason"},
    "not_run": [{"reason": "r", "modes": ["m"], "inputs": ["i"]}],
    "rows": [
        {"mode": "forward", "output": "z", "cells": {"float32": {"plain": ["wrong", 3.0]}},
         "worst": {"word": "wrong", "dtype": "float32", "input": "i", "reason": "r", "token": "t"}}
    ],
}  # fmt: skip


@pytest.mark.parametrize("reason", ["", HOSTILE])
def test_a_measured_implementation_takes_no_markup(reason):
    hostile = poisoned(LINE, ("cells", "word", "reason"))
    hostile |= {"reason": reason, "threads": [f"javascript:{HOSTILE}"]}
    page = implementations_page.page(hostile)
    assert not leaks(page)
    assert "javascript" not in page
    assert not leaks(implementations_page.index([hostile]))


def test_a_campaign_takes_no_markup():
    strata = {HOSTILE: {"instances": 3, "holds": 3}}
    record = Record(PROVED, HOSTILE, 3, worst_ratio=0.5, worst_token=HOSTILE, strata=strata)
    run = Run(**poisoned(asdict(RESULT.run)))
    assert not leaks(campaigns_page.page({"sharp-factor": (run, [of_record(record, 0)])}))


def test_what_was_measured_on_a_gpu_takes_no_markup(tmp_path):
    step = {"what": HOSTILE, "command": HOSTILE, "status": 0, "seconds": 1.0, "output": HOSTILE}
    found = dict.fromkeys(("device", "commit", "started"), HOSTILE)
    row = {"name": HOSTILE, "time": 1.0, "megabytes": 2.0, "error": None}
    compared = {"job": HOSTILE, "threads": 1, "rows": [row]}
    found |= {"versions": {"numpy": HOSTILE}, "steps": [step], "comparisons": [compared]}
    (tmp_path / "gpu.json").write_text(json.dumps(found))
    assert not leaks(gpu_page.page(tmp_path / "gpu.json"))


def test_a_picture_takes_no_markup():
    axis = category_axis([HOSTILE, HOSTILE], HOSTILE)
    assert not leaks(svg(Chart(title=HOSTILE, description=HOSTILE, x=axis, y=axis)))
