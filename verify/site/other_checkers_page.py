"""The page of what other checkers notice of the planted faults, from ``docs/measured``."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from verify.site.markup import coloured, raw, table

MEANINGS = {
    "gradcheck": "torch.autograd.gradcheck, its defaults, float64",
    "gradgradcheck": "torch.autograd.gradgradcheck, its defaults, float64",
    "check_grads": "jax.test_util.check_grads, order 2, both modes, float64, of the faults in JAX",
    "forward 1e-2": "the output on five inputs, float32, allclose at 1e-2, as benchmarks of"
    " generated kernels compare",
    "forward 1e-4": "the output on one input, float32, allclose at 1e-4",
    "gradients 1e-4": "output, gradients for a random cotangent, and what a class remembers and"
    " evaluates to, float32, allclose at 1e-4",
}


def page(measured: Mapping[str, Any] | None) -> str:
    """Return the page; without measurements it says how to make them."""
    title = "---\norphan: true\n---\n\n# What other checkers notice\n"
    if measured is None:
        return f"{title}\nNothing has been measured here; `make checkers` does it.\n"
    versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
    total = len(measured["noticed"])
    counts = measured["counts"]
    parts = [
        title,
        f"The tests of this suite plant {total} faults in normalisation layers, one in each, and"
        " demand that every one is found. Other checkers, used as their documentation shows them,"
        " on one ordinary input of shape (6, 4, 3, 3), notice so many of the same layers. They"
        " were made for other questions: a difference quotient cannot know what the layer"
        " should compute, and one input shows what that input shows.\n",
        f'<p class="run">{escape(versions)}; <code>benchmarks/other_checkers.py</code>.</p>\n',
        raw(
            table(
                ("checker", "notices", "of", "how"),
                (
                    (escape(name), str(count), str(_of(measured, name)), escape(MEANINGS[name]))
                    for name, count in counts.items()
                ),
            )
        ),
        "## Each fault\n",
        raw(_each(measured)),
    ]
    return "\n".join(parts)


def _of(measured: Mapping[str, Any], checker: str) -> int:
    """Return how many faults a checker was given."""
    return sum(checker in row for row in measured["noticed"].values())


def _each(measured: Mapping[str, Any]) -> str:
    checkers = list(measured["counts"])
    rows = [
        (
            f"<b>{escape(name.replace('_', ' '))}</b>"
            f"<small>{escape(measured['faults'][name])}</small>",
            *(_mark(noticed.get(checker)) for checker in checkers),
        )
        for name, noticed in measured["noticed"].items()
    ]
    return table(("fault", *checkers), rows, "implementations")


def _mark(is_noticed: bool | None) -> str:
    if is_noticed is None:
        return coloured("word", "not given")
    return coloured("proved", "noticed") if is_noticed else coloured("refuted", "passes")
