import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from theory.claim import Relation
from theory.language.expression import number
from theory.language.operations import norm2
from theory.santurkar2018 import theorem_4_1
from theory.unit import g
from verify.engine import CLAIMS
from verify.site import counterexamples, findings, mathematics
from verify.site.axes import linear_axis, magnitude_axis, power, size_axis
from verify.site.chart import Chart, Mark, svg
from verify.site.docstrings import escape_bars
from verify.site.markup import is_words
from verify.site.points import Point, is_noise, slack

ROOT = Path(__file__).resolve().parents[2]


def test_every_statement_can_be_set():
    for claim in CLAIMS:
        assumed = [text for h in claim.hypotheses for text in (h.statement, h.checked)]
        for text in (claim.statement, claim.falsifier, *claim.where, *assumed):
            if text and not is_words(text):
                mathematics.html(text, display=True)  # or an error that shows the text


def test_a_weight_of_one_is_left_out_of_a_certificate_but_no_factor_of_a_number():
    def certificate(because):
        return findings._certificate(replace(theorem_4_1.PRINTED, because=because))

    assert certificate(1 * norm2(g)).endswith(r" = \|g\|^2")
    assert certificate(number(1) * 2 * norm2(g)).endswith(r" = 1 \cdot 2 \|g\|^2")


def test_what_cannot_be_set_is_an_error():
    with pytest.raises(mathematics.MathError, match="nosuchcommand"):
        mathematics.html(r"\nosuchcommand{x}")


def test_a_process_that_set_something_ends():
    said = "from verify.site.mathematics import html; html('x')"
    subprocess.run([sys.executable, "-c", said], cwd=ROOT, check=True, timeout=60)


def test_bars_of_norms_are_escaped_and_mathematics_kept():
    lines = ["|u| and :math:`|v|`", "", ".. math:: |w|", "", "   |x|", "", "|y|"]
    assert escape_bars(lines) == [
        r"\|u\| and :math:`|v|`",
        "",
        ".. math:: |w|",
        "",
        "   |x|",
        "",
        r"\|y\|",
    ]


def test_magnitude_axis_puts_powers_in_order():
    axis = magnitude_axis([0.0, 1e-3, 1e4], "size")
    assert axis.place(0.0) == 0.0
    assert 0 < axis.place(1e-3) < axis.place(1.0) < axis.place(1e4) <= 1
    signed = magnitude_axis([-10.0, 10.0, 0.1], "size")
    assert signed.place(0.0) == 0.5
    assert signed.place(-10.0) == pytest.approx(1 - signed.place(10.0))
    places = [place for place, _ in signed.ticks]
    assert places == sorted(places)


def test_power_is_written_in_superscripts():
    assert [power(k) for k in (-12, 0, 1, 5)] == ["10⁻¹²", "1", "10", "10⁵"]


def test_slack_is_one_minus_the_ratio_of_a_bound():
    point = Point("w", "s", 8, 0.25, 1.0, violated=False)
    assert slack(point, Relation.AT_MOST) == 0.75
    assert slack(point, Relation.AT_LEAST) == -0.75
    assert slack(point, Relation.EQUAL) == 0.75


def test_rounding_errors_have_no_slack():
    assert is_noise(Point("w", "s", 2, 1e-32, 1e-16, violated=False), Relation.AT_MOST)
    assert not is_noise(Point("w", "s", 2, 0.5, 1.0, violated=False), Relation.AT_MOST)


def chart(count: int) -> Chart:
    marks = [Mark(8, i / count, violated=i % 7 == 0) for i in range(count)]
    return Chart("t", "<d>", size_axis([8], "m"), linear_axis(0, 1, "y", (0, 1)), marks)


def test_svg_has_a_text_alternative_and_every_mark():
    text = svg(chart(14))
    assert "<title" in text
    assert "&lt;d&gt;" in text
    (dots,), (crosses,) = (
        re.findall(rf'marker-mid="url\(#{kind}\)" d="M(.*?)h0"', text) for kind in ("dot", "cross")
    )
    assert [len(re.findall(r"-?[\d.]+", path)) for path in (dots, crosses)] == [12 * 2, 2 * 2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("3/4", "3/4"),
        (["0", "-1/2"], "(0, −1/2)"),
        ([["0", "1"], ["2", "3"]], "((0, 1), (2, 3))"),
        ("99/8 - 135/16*sqrt(2)", "99/8 − 135√2/16"),
        ("[1.5 +/- 2e-9]", "1.5"),
        ("123456789/2251799813685248", "about 5.483·10⁻⁸"),
    ],
)
def test_numbers_are_written_as_with_a_pencil(value, text):
    assert counterexamples.plain(value).replace("−08", "-08") == text
