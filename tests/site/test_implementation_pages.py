"""The pages of released layers say what was measured, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from verify import json_lines
from verify.conform.examiner import examiner
from verify.site.implementations_page import index, page, slug
from verify.site.other_checkers_page import page as checkers_page

MEASURED = Path(__file__).resolve().parents[2] / "docs" / "measured"
LINE = {
    "name": "some.BatchNorm",
    "family": "batch",
    "target": "some:BatchNorm",
    "adapters": ["numpy"],
    "examiner": examiner("some", ("numpy",)),
    "library": "some",
    "version": "1.2",
    "framework": "frame 3.4",
    "versions": {"python": "3.11"},
    "measured": "2026-01-01",
    "threads": ["https://github.com/some/some/issues/7"],
    "script": "def layer(x, gamma, beta, eps):\n    return x",
    "verdict": "does not conform",
    "reason": "",
    "conventions": {},
    "kinds": ["plain"],
    "diagnosis": [{"mode": "forward", "output": "z", "sentence": "a < b", "guess": "m - 1 for m"}],
    "not_offered": {"jvp": "no <forward> mode"},
    "not_run": [{"reason": "it raises", "modes": ["vmap"], "inputs": ["m < 2", "m = 7"]}],
    "rows": [
        {
            "mode": "forward",
            "output": "z",
            "cells": {"float32": {"plain": 0.25}, "float64": {"plain": ["wrong", 1e9]}},
            "worst": {
                "word": "wrong",
                "dtype": "float64",
                "input": "plain",
                "reason": "",
                "token": "batch:NC:0:float64:plain:forward:z",
            },
        },
        {"mode": "gradient", "output": "x", "cells": {"float32": {"plain": 0.5}}},
    ],
}
RIGHT = {**LINE, "name": "other.BatchNorm", "rows": LINE["rows"][1:], "verdict": "conforms"}


def test_the_gravest_word_stands_in_the_comparison_with_where_it_was_found():
    text = index([LINE, RIGHT])
    assert '<b class="refuted">wrong</b><br>float64' in text
    assert text.count("<b>right</b>") > 2


def test_a_mode_without_a_row_is_not_offered():
    row = next(line for line in index([RIGHT]).splitlines() if "other.<wbr>BatchNorm" in line)
    assert "not offered" in row.split("</td>")[1]


def test_a_mode_that_does_not_run_at_some_cases_is_said_with_them():
    assert "- vmap: not at m &lt; 2; m = 7: it raises" in page(LINE)


def test_each_name_leads_to_its_page():
    assert f'href="{slug(LINE)}.html"' in index([LINE])
    assert slug(LINE) in index([LINE]).rpartition("toctree")[2]


def test_every_layer_that_was_measured_has_a_page_and_is_led_to():
    lines = [line for file in MEASURED.glob("*.jsonl") for line in json_lines.read(file)]
    led_to = re.findall(r'href="([^"]+)\.html"', index(lines))
    assert {slug(line) for line in lines} <= {*led_to}
    assert [line["name"] for line in lines if line["version"] not in page(line)] == []


def test_a_page_leads_back_to_numbers_script_and_thread():
    text = page(LINE)
    assert "batch:NC:0:float64:plain:forward:z" in text
    assert "def layer(x, gamma, beta, eps)" in text
    assert "[some#7](https://github.com/some/some/issues/7)" in text


def test_a_page_names_the_kinds_of_input_that_were_left_out():
    assert "Kinds of input: plain; not examined here: sizes" in page(LINE)


def test_what_an_earlier_examiner_measured_says_so_with_its_date_and_what_is_not_in_it():
    earlier = {**LINE, "examiner": "another"}
    said = " Measured on 2026-01-01 by an earlier state of this suite: today's may find otherwise"
    assert f"{said}, and also examines own gradient, own jvp, second rr" in page(earlier)
    assert "jvp, own" not in page(earlier)  # which is known not to be offered
    assert "some 1.2, frame 3.4; 2026-01-01, by an earlier state of this suite" in index([earlier])
    assert said in page({name: value for name, value in LINE.items() if name != "examiner"})
    assert "earlier" not in page(LINE) + index([LINE])


def test_a_layer_on_a_gpu_has_a_page_of_its_own_that_names_it():
    there = {**LINE, "device": "gpu", "accelerator": "Large GPU"}
    assert slug(there) == f"{slug(LINE)}-gpu"
    assert "some 1.2, frame 3.4 on Large GPU, measured" in page(there)
    assert "--family batch --device gpu" in page(there)
    assert "frame 3.4 on Large GPU</small>" in index([there])
    assert "device" not in page(LINE)


def test_messages_of_programs_are_shown_as_they_are():
    text = page(LINE)
    assert "a &lt; b" in text
    assert "no &lt;forward&gt; mode" in text


def test_what_could_not_be_examined_says_why():
    assert "no such device" in page({**LINE, "rows": [], "reason": "no such device"})


def test_without_measurements_the_pages_say_how_to_make_them():
    assert "make conform" in index([])
    assert "make checkers" in checkers_page(None)


def test_the_checkers_page_counts_what_each_was_given():
    measured = {
        "versions": {"torch": "2"},
        "faults": {"a": "A fault.", "b": "Another."},
        "noticed": {"a": {"gradcheck": True}, "b": {"gradcheck": False, "check_grads": True}},
        "counts": {"gradcheck": 1, "check_grads": 1},
    }
    text = checkers_page(measured)
    assert "<td>gradcheck</td><td>1</td><td>2</td>" in text
    assert "<td>check_grads</td><td>1</td><td>1</td>" in text
    assert "not given" in text
