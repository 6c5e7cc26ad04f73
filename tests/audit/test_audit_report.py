"""The report: JSON with a schema, a page that needs no network, words for the worst layers."""

import html
import io
import json
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
import torch
from rich.console import Console
from small_networks import CROSS_ENTROPY, Halved, made
from torch import nn

from theory.lange2022 import theorem_4
from theory.language.values import Values
from verify import engine
from verify.audit import adding_up, audit
from verify.audit.page import DRAWN
from verify.audit.report import Report, read
from verify.audit.statements import Instances
from verify.audit.terminal import MAIN, MAP, NORMALIZATION, number, show
from verify.audit.words import lines
from verify.tolerance import Outcome

BY_ID = {claim.id: claim for claim in engine.CLAIMS}


@pytest.fixture(scope="module")
def audited():
    """The report, and what was told meanwhile."""
    told = []
    network = made("ResNet-18", torch.float32)
    return audit(*network, entries=0, tell=lambda *said: told.append(said)), told


@pytest.fixture(scope="module")
def report(audited):
    return audited[0]


def test_what_is_right_holds_in_single_precision(report):
    assert [row.statement for row in report.unexpected] == []


def test_json_is_read_back_as_the_same_report(report, tmp_path):
    path = report.save(tmp_path / "audit.json")
    again = read(path.read_bytes())
    assert again.as_json() == report.as_json()
    assert again.schema == 2
    with pytest.raises(msgspec.ValidationError):
        read(b'{"model": 3}')


def test_the_schema_names_every_column(report):
    definitions = msgspec.json.schema(Report)["$defs"]
    plain = report.as_json()
    for kind, rows in (
        ("NormalizationRow", plain["normalizations"]),
        ("MapRow", plain["maps"]),
        ("StatementRow", plain["statements"]),
    ):
        assert set(definitions[kind]["properties"]) == set(rows[0])
    json.dumps(plain, allow_nan=False)


def test_a_page_is_whole_and_asks_for_nothing(report, tmp_path):
    text = report.save(tmp_path / "audit.html").read_text()
    elsewhere = re.findall(r"(?:src|href)\s*=|url\((?!#)|@import|<script|<link", text)
    assert elsewhere == []
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    pictures = re.findall(r"<svg.*?</svg>", text, re.S)
    drawn = [row for row in report.statements if row.instances - row.vacuous >= DRAWN]
    assert len(pictures) > len(drawn) > 10
    assert all(html.escape(why) in text for why in report.left_out)
    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names))
    for picture in pictures:
        ET.fromstring(picture)
    assert "prefers-color-scheme:dark" in text
    for row in (*report.normalizations, *report.maps):
        assert row.layer in text
    for row in report.statements:
        assert row.statement in text
    with pytest.raises(ValueError, match=r"neither \.html nor \.json"):
        report.save(tmp_path / "audit.pdf")


def test_the_terminal_shows_every_layer_and_the_main_statements(report):
    console = Console(width=220, record=True, file=io.StringIO())
    show(report, console)
    text = console.export_text()
    for row in (*report.normalizations, *report.maps):
        assert row.layer in text
    assert "S-thm-4.1/eps" in text
    assert "S-eq-3/eps" not in text
    show(report, console, every=True)
    assert "S-eq-3/eps" in console.export_text()


@pytest.mark.parametrize("width", [80, 119, 120, 180, 240])
def test_no_terminal_cuts_a_layer_a_number_or_a_statement(report, width):
    console = Console(width=width, file=io.StringIO())
    show(report, console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    words = set(re.split(r"[\s;]+", text))
    for row in (*report.normalizations, *report.maps):
        assert {row.layer, row.kind} <= words
    assert {row.statement for row in report.statements if row.statement in MAIN} <= words
    assert {number(row.kappa) for row in report.maps} <= words
    shown = {*NORMALIZATION, *MAP, "in general", "instances", "violated", "worst"} - {"drift"}
    assert {name for name in shown if name not in " ".join(text.split())} == set()


@pytest.mark.parametrize(
    ("name", "relation", "actual", "slacks"),
    [
        ("S-thm-4.1/eps", "<=", (3.0, 5.0), (0.25, -0.2)),
        ("S-thm-4.2-discussion/psd", ">=", (5.0, 3.0), (0.2, -0.25)),
        ("S-v1-eq-20/eps", ">", (5.0, 3.0), (0.2, -0.25)),
    ],
)
def test_a_slack_below_zero_is_of_a_bound_that_fails(name, relation, actual, slacks):
    found = adding_up.Everywhere(BY_ID[name])
    outcomes = [Outcome.HOLDS, Outcome.VIOLATED]
    sides = np.array(actual), np.array([4.0, 4.0])
    found.add(Instances(BY_ID[name], *sides, np.ones(2), outcomes), ["holds", "fails"], ["", ""])
    row = adding_up.row(found, ["holds", "fails"])
    assert row.relation == relation
    assert [layer.slack for layer in row.layers] == [(slack,) * 3 for slack in slacks]


@pytest.mark.parametrize(
    ("name", "actual"),
    [
        ("S-fact-C1/eps", (4.0, 4.1, 3.0, 2.0, 3.9)),
        ("S-thm-4.1/eps", (3.9, 4.0, 5.0, 6.0, 0.0)),
        ("S-thm-4.2-discussion/psd", (4.1, 4.0, 3.0, 2.0, 9.0)),
    ],
    ids=["an equation", "a bound from above", "a bound from below"],
)
@pytest.mark.parametrize("ratios", [np.arange(5.0, 0, -1), np.full(5, np.nan)])
def test_the_worst_is_the_one_that_is_violated_most(name, actual, ratios):
    found = adding_up.Everywhere(BY_ID[name])
    outcomes = [Outcome.HOLDS] * 2 + [Outcome.VIOLATED] * 2 + [Outcome.UNDECIDED]
    sides = np.array(actual), np.full(5, 4.0)
    units = [f"unit {i}" for i in range(5)]
    found.add(
        Instances(BY_ID[name], *sides, ratios, outcomes), ["holds"] * 2 + ["fails"] * 3, units
    )
    row = adding_up.row(found, ["holds", "fails"])
    assert (row.worst_layer, row.worst_unit) == ("fails", "unit 3")
    assert row.instances == sum(layer.instances for layer in row.layers) > 0
    assert row.worst_ratio == (None if np.isnan(ratios[0]) else 2.0)
    assert "unit 3" in {point.unit for point in row.points}


def test_the_layer_that_is_accused_is_the_one_that_is_wrong():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 4), Halved(4), nn.LayerNorm(4), nn.Linear(4, 3))
    report = audit(model, torch.randn(16, 6), torch.randint(3, (16,)), CROSS_ENTROPY)
    assert "S-fact-C1/eps" in {row.statement for row in report.unexpected}
    assert {row.worst_layer for row in report.unexpected} == {"1"}


def test_three_layers_in_trouble_come_first_the_worst_first():
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Linear(4, 6),
        nn.BatchNorm1d(6),
        nn.Linear(6, 6, bias=False),
        nn.BatchNorm1d(6),
        nn.Linear(6, 6, bias=False),
        nn.BatchNorm1d(6),
        nn.Linear(6, 3),
    )
    with torch.no_grad():
        model[2].weight[:5] = 0  # five constant units
        model[4].weight[2] *= 1e-6  # one whose variance is below epsilon
    x, labels = torch.randn(32, 4), torch.randint(3, (32,))
    report = audit(model, x, labels, CROSS_ENTROPY)
    names = [name for name, _ in report.worst(3)]
    assert names[0] == "3"
    assert "5 of 6 units do not vary" in lines(report)[0]
    assert "5" in names
    assert any("epsilon outweighs the variance" in line for line in lines(report))
    assert len(report.worst(1)) == 1


def test_a_healthy_network_is_told_that_nothing_stands_out():
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3)
    )
    report = audit(model, torch.randn(64, 4), torch.randint(3, (64,)), CROSS_ENTROPY)
    assert isinstance(report, Report)
    assert lines(report)[0] == "No layer is beyond a threshold. Nearest to one:"
    assert len(lines(report)) == 1 + len(report.worst()) == 4
    assert not any(finding.is_grave for finding in report.findings)


def test_a_budget_that_is_spent_says_what_was_left_out():
    model, inputs, targets, loss = made("VGG-16")
    report = audit(model, inputs, targets, loss, budget=1e-9)
    assert all(row.kappa is None for row in report.maps)
    assert len(report.notes) == len(report.maps) + 1
    assert "the budget was spent" in report.notes[0]
    assert report.normalizations[0].theorem_4_1.worst is not None
    report.show()


def test_layers_restrict():
    chosen = audit(*made("ResNet-18"), layers=["stage1.*", "output"])
    names = [row.layer for row in (*chosen.normalizations, *chosen.maps)]
    assert names
    assert all(name.startswith("stage1.") or name == "output" for name in names)


def test_progress_is_told_with_what_is_left(audited):
    _, told = audited
    what = [said[0] for said in told]
    assert what[0] == "forward and backward"
    assert "inputs of output" in what
    assert any(w.startswith("curvature at") for w in what)
    assert all(0 <= behind <= every for _, behind, every in told)


def test_several_batches_are_told_apart():
    model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3))
    x, labels = torch.randn(16, 4), torch.randint(3, (16,))
    batches = [(x, labels), (x + 1, labels), (x, labels)]
    report = audit(model, batches=batches, loss=CROSS_ENTROPY, most=2)
    assert report.batches == len(report.losses) == 2
    found = next(s for s in report.statements if s.statement == "S-thm-4.1/eps")
    assert found.layers[0].instances == 2 * 6
    assert found.worst_unit.startswith("batch ")


def test_inputs_of_any_scale_falsify_nothing_that_is_right():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3))
    draw = torch.Generator().manual_seed(3)
    x, target = torch.randn(8, 4, generator=draw), torch.randint(3, (8,), generator=draw)
    for scale in (1e-15, 1e12, 1e15):
        assert not audit(model, scale * x, target, CROSS_ENTROPY).unexpected


@pytest.mark.parametrize("kappa", [theorem_4.KAPPA_D, theorem_4.KAPPA_P])
@pytest.mark.parametrize("scale", [1.0, 1e6, 1e15])
def test_no_singular_value_of_a_nonsingular_matrix_is_left_out(kappa, scale):
    inputs = scale * np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, -1.0]])
    found = Values(SimpleNamespace(H=inputs, q=np.float64(1)))[kappa]
    assert np.isnan(found) if scale > 1e12 else found > scale**2 / 4
