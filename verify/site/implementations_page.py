"""The pages of released layers: what the closed forms say of each, from ``docs/measured``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from shlex import quote
from typing import Any, NamedTuple

from verify.conform.cases import KINDS
from verify.conform.examiner import added_modes, is_todays
from verify.conform.words import FAILURES, Word, gravest
from verify.site.markup import coloured, fenced, harmless, on_one_line, raw, table, words
from verify.wording import plural

Line = Mapping[str, Any]
"""What ``verify.conform.survey`` writes of one implementation."""
FAMILIES = {
    "batch": "Batch normalisation",
    "layer": "Layer normalisation",
    "rms": "RMS normalisation",
    "group": "Group normalisation",
    "instance": "Instance normalisation",
}
COLUMNS = {
    "output": ("forward",),
    "gradient": ("gradient", "own gradient"),
    "forward mode": ("jvp", "own jvp"),
    "second derivatives": ("second rr", "second fr", "second rf", "second ff"),
    "third derivatives": ("third",),
    "running statistics": ("running", "recomputed"),
    "evaluation": ("evaluation", "evaluation gradient"),
}
COLOURS = {
    Word.INACCURATE: "unreadable",
    Word.WRONG: "refuted",
    Word.RAISES: "refuted",
    Word.OVERWRITES: "refuted",
    Word.NOT_FINITE: "undecided",
    Word.OTHER_CONVENTION: "supported",
}
MEANINGS = {
    Word.RIGHT: "within 32 units, each the unit roundoff u times the running error of two passes",
    Word.INACCURATE: "rounds more than that, and the error shrinks with u",
    Word.WRONG: "the error does not shrink with u",
    Word.RAISES: "the layer's own code ends in an error",
    Word.NOT_FINITE: "NaN or infinite where the closed form is finite",
    Word.OTHER_CONVENTION: "what the library promises differs from what was compared",
    Word.NOT_OFFERED: "the framework has no such mode, or the layer refuses it",
}
_ON_ANOTHER = re.compile(r"(\S+) on (\S+) (\S+) on (\S+)")


class Cell(NamedTuple):
    """The gravest word of a mode and output in one dtype and kind of case."""

    dtype: str
    kind: str
    word: Word
    units: float | None


def index(lines: Sequence[Line]) -> str:
    """Return the page that compares all implementations."""
    parts = [
        "---\nhide-toc: true\n---\n\n# Implementations\n",
        "Released normalisation layers, compared with the closed forms in ball arithmetic, on a CPU"
        " unless another device is named: the output, every mode of differentiation, running"
        " statistics and evaluation, in float32 and float64. The kinds of input are named on each"
        " page; among them are means as large as the precision bears, constant channels, tiny and"
        " huge scales. A cell has the worst result of its modes, and below it the kinds of input"
        " where that was found, unless it was nearly everywhere; a name leads to all numbers and to"
        " commands that reproduce them. A result is about one version on one machine, and counts"
        " rare inputs as much as common ones.\n",
        raw(_legend()),
    ]
    for family, title in FAMILIES.items():
        own = [line for line in lines if line["family"] == family]
        if own:
            parts += [f"## {title}\n", raw(_compared(own))]
    if not lines:
        parts.append("Nothing has been measured here; `make conform` does it.\n")
    parts.append("[What other checkers notice of the same faults](other-checkers.md)\n")
    return "\n".join(parts)


def page(line: Line) -> str:
    """Return the page of one implementation."""
    versions = ", ".join(f"{name} {number}" for name, number in line["versions"].items())
    how = f"{_versions(line)}{_on(line)}, measured {line['measured']}; {versions}."
    parts = [
        f"---\norphan: true\n---\n\n# {words(line['name'])}\n",
        f'<p class="where"><a href="index.html">Implementations</a> · {on_one_line(how)}</p>\n',
        f"{summary(line)} {_kinds(line)}{_examiner(line)}\n",
    ]
    if line["threads"]:
        links = ", ".join(
            f"[{harmless(_thread(url))}]({on_one_line(url)})"
            for url in line["threads"]
            if url.startswith("https:")
        )
        parts.append(f"Where its maintainers speak of it: {links}.\n")
    if line["rows"]:
        parts += ["## Every mode\n", _units(), raw(_matrix(line))]
    if found := _found(line):
        header = ("mode, output", "word", "dtype", "input", "", "token")
        parts += ["## Where to look\n", raw(table(header, found, "implementations"))]
    if line["diagnosis"]:
        parts += ["## What is missing\n", *_diagnosis(line["diagnosis"])]
    if line["not_offered"]:
        parts += ["## Not offered\n", *_not_offered(line["not_offered"])]
    if line.get("not_run"):
        parts += ["## Not run at every case\n", *map(_not_run, line["not_run"])]
    parts += [
        "## The layer alone\n",
        fenced(line["script"], "python"),
        "Examine it where it is installed:\n",
        fenced(
            f"python -m verify conform {quote(line['target'])} --family {quote(line['family'])}"
            + (f" --device {quote(line['device'])}" if "device" in line else ""),
            "sh",
        ),
    ]
    return "\n".join(parts)


def cells(row: Line) -> list[Cell]:
    """Return a row's cells."""
    return [
        Cell(dtype, kind, Word.RIGHT, entry)
        if isinstance(entry, int | float)
        else Cell(dtype, kind, Word(entry[0]), entry[1] if len(entry) > 1 else None)
        for dtype, kinds in row["cells"].items()
        for kind, entry in kinds.items()
    ]


def slug(line: Line) -> str:
    """Return the name of an implementation's page.

    >>> slug({"name": "flax.nnx.BatchNorm, use_fast_variance=False", "framework": "jax 0.10.2"})
    'flax-nnx-batchnorm-use-fast-variance-false-jax'
    """
    framework = re.sub(r" [0-9][^ ]*", "", line["framework"])
    named = f"{line['name']} {framework} {line.get('device', '')}"
    return re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-")


def summary(line: Line) -> str:
    """Say in a sentence what was found."""
    if line["reason"]:
        return f"It could not be examined here: {on_one_line(line['reason'])}"
    words = [cell.word for row in line["rows"] for cell in cells(row)]
    bad = [word for word in FAILURES if word in words]
    if not bad:
        return f"Every cell of {len(words)} is right, or not offered, or not judged."
    counted = ", ".join(f"{words.count(word):,} {word}" for word in (Word.RIGHT, *bad))
    return f"Of {plural(len(words), 'cell')}: {counted}."


def _kinds(line: Line) -> str:
    """Say which kinds of input were examined, and which were not."""
    left = [kind for kind in KINDS if kind not in line["kinds"]]
    said = f"Kinds of input: {words(', '.join(line['kinds']))}"
    return f"{said}; not examined here: {', '.join(left)}." if left else f"{said}."


def _examiner(line: Line) -> str:
    """Say of what today's code did not find when it was found, and what is not in it."""
    if is_todays(line):
        return ""
    more = f", and also examines {', '.join(added)}" if (added := added_modes(line)) else ""
    return (
        f" Measured on {on_one_line(line['measured'])} by an earlier state of this suite: today's"
        f" may find otherwise{more}."
    )


def chip(word: Word) -> str:
    """Return a word on its colour; the style sheet knows that of "right", which most cells say."""
    return f"<b>{word}</b>" if word is Word.RIGHT else coloured(COLOURS.get(word, "word"), word)


def _with_remark(word: Word, remark: str) -> str:
    return f"{chip(word)}<br>{remark}" if remark else chip(word)


def _legend() -> str:
    rows = [(chip(word), escape(meaning)) for word, meaning in MEANINGS.items()]
    return table(("word", "meaning"), rows, "implementations")


def _compared(lines: Iterable[Line]) -> str:
    rows = [
        (
            f'<a href="{slug(line)}.html">{_breaking(line["name"])}</a>'
            f"<small>{escape(_library(line))}</small>",
            *(_entry(line, modes) for modes in COLUMNS.values()),
        )
        for line in lines
    ]
    return table(("implementation", *COLUMNS), rows, "implementations")


def _breaking(name: str) -> str:
    """Return a name that may be broken behind its dots, so that the table fits beside it."""
    return escape(name).replace(".", ".<wbr>")


def _on(line: Line) -> str:
    """Say on which accelerator, if on one."""
    return f" on {line['accelerator']}" if "accelerator" in line else ""


def _library(line: Line) -> str:
    named = _versions(line) + _on(line)
    earlier = f"{named}; {line['measured']}, by an earlier state of this suite"
    return named if is_todays(line) else earlier


def _versions(line: Line) -> str:
    """Return a library and what it runs on, each with its version, once.

    >>> _versions({"library": "k", "version": "3.1", "framework": "k on jax 3.1 on 0.2"})
    'k 3.1 on jax 0.2'
    >>> _versions({"library": "tf-cpu", "version": "2.1", "framework": "tf 2.1"})
    'tf-cpu 2.1'
    """
    own = f"{line['library']} {line['version']}"
    framework = _ON_ANOTHER.sub(r"\1 \3 on \2 \4", line["framework"])
    if framework.startswith(own):
        return framework
    return own if framework.endswith(line["version"]) else f"{own}, {framework}"


def _entry(line: Line, modes: Sequence[str]) -> str:
    found = [cell for row in line["rows"] if row["mode"] in modes for cell in cells(row)]
    if not found:
        return chip(Word.NOT_OFFERED)
    word = gravest([cell.word for cell in found])
    if word not in FAILURES:
        return chip(word)
    same = [cell for cell in found if cell.word is word]
    return _with_remark(word, escape(_where(same, found)))


def _where(same: Sequence[Cell], found: Sequence[Cell]) -> str:
    """Say in which dtypes and kinds of cases a word was found, if not in all."""
    dtypes = list(dict.fromkeys(cell.dtype for cell in same))
    kinds = [kind for kind in KINDS if any(cell.kind == kind for cell in same)]
    said = [] if set(dtypes) == {cell.dtype for cell in found} else [", ".join(dtypes)]
    if set(kinds) != {cell.kind for cell in found}:
        said.append(", ".join(kinds[:3]) + (" ..." if len(kinds) > 3 else ""))
    return "; ".join(said)


def _units() -> str:
    return (
        "The largest error in units: the distance to the exact answer, divided by the unit roundoff"
        " times the running error of the literal two-pass algorithm on the same numbers. What each"
        " mode and output is stands in"
        " [the guide](../guides/conform.md#what-modes-and-outputs-are-called).\n"
    )


def _matrix(line: Line) -> str:
    rows = [(row, cells(row)) for row in line["rows"]]
    kinds = [kind for kind in KINDS if any(c.kind == kind for _, found in rows for c in found)]
    entries = (
        (
            escape(row["mode"]),
            escape(row["output"]),
            *(_gravest([cell for cell in found if cell.kind == kind]) for kind in kinds),
        )
        for row, found in rows
    )
    return table(("mode", "output", *kinds), entries, "implementations")


def _gravest(found: Sequence[Cell]) -> str:
    if not found:
        return ""
    word = gravest([cell.word for cell in found])
    same = [cell for cell in found if cell.word is word]
    units = max((cell.units for cell in same if cell.units is not None), default=None)
    dtypes = {cell.dtype for cell in found}
    where = "" if len(dtypes) == len({cell.dtype for cell in same}) else f" {same[0].dtype}"
    size = "" if units is None else f"{units:.3g}"
    return _with_remark(word, size + where)


def _found(line: Line) -> list[tuple[str, ...]]:
    return [
        (
            escape(f"{row['mode']}, {row['output']}"),
            chip(Word(row["worst"]["word"])),
            escape(row["worst"]["dtype"]),
            escape(row["worst"]["input"]),
            escape(row["worst"]["reason"]),
            f"<code>{escape(row['worst']['token'])}</code>",
        )
        for row in line["rows"]
        if "worst" in row
    ]


def _diagnosis(found: Iterable[Line]) -> list[str]:
    places: dict[str, list[str]] = {}
    for finding in found:
        guess = f" A guess: {finding['guess']}." if finding["guess"] else ""
        said = f"{finding['sentence']}.{guess}"
        places.setdefault(said, []).append(f"{finding['mode']} {finding['output']}")
    return [f"- {_plain(said)} ({words(', '.join(where))})\n" for said, where in places.items()]


def _not_offered(reasons: Mapping[str, str]) -> list[str]:
    modes: dict[str, list[str]] = {}
    for mode, reason in reasons.items():
        modes.setdefault(reason, []).append(mode)
    return [f"- {words(', '.join(names))}: {_plain(reason)}\n" for reason, names in modes.items()]


def _not_run(found: Mapping[str, Any]) -> str:
    modes, inputs = words(", ".join(found["modes"])), _plain("; ".join(found["inputs"]))
    return f"- {modes}: not at {inputs}: {_plain(found['reason'])}\n"


def _thread(url: str) -> str:
    """Return a thread's short name.

    >>> _thread("https://github.com/pytorch/pytorch/issues/186256")
    'pytorch#186256'
    """
    *_, project, _, number = url.split("/")
    return f"{project}#{number}"


def _plain(text: str) -> str:
    """Return a message of a program as Markdown that shows it as it is."""
    said = escape(" ".join(text.split()), quote=False)
    return re.sub(r"([\\`*_\[\]#|~$])", r"\\\1", said)
