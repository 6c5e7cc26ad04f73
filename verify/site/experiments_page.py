"""The pages of the papers' experiments: what was seen, with which numbers, in which figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from shlex import quote

from theory.statement import Verdict
from verify import engine
from verify.experiments.evidence import WITHOUT_DATA, Result
from verify.experiments.examined import Examined, examined
from verify.experiments.experiment import Observation, Picture
from verify.experiments.paper_figures import FIGURES, PaperFigure
from verify.experiments.report import WORDS, summary
from verify.fingerprint import of_everything
from verify.ledger import Entry
from verify.site.markup import decided, fenced, on_one_line, raw, table, told_apart, words
from verify.site.numbers import typeset
from verify.site.statements import TITLES
from verify.subjects.unit import imposed_by
from verify.wording import plural

KINDS = {True: "supported", False: "refuted", None: "undecided"}
"""The colour of each word."""
SIGNS = {
    r"\bkappa\(": "κ(",
    r"\bsigma\(": "σ(",
    r"\)\^2": ")²",
    r" <= ": " ≤ ",
    r" >= ": " ≥ ",
    r"\beps_": "ϵ_",
    r"\bl_p\b": "ℓₚ",
    r"\bl_?1\b": "ℓ₁",
    r"\bl_?2\b": "ℓ₂",
    r"\blinf\b": "ℓ∞",
}
"""What observations and captions write in plain letters, and what a page has for it."""
PAPERS = {paper.key: paper.short for paper in engine.PAPERS}
PLACES = {
    "S-v1": "first version",
    "L-fig-8": "Fig. 8",
    "L-table-1": "Table 1",
    "L-thm-4": "Theorem 4",
}
"""Where in a paper a code stands that leads to no page; the others come with their place."""
_CODE = re.compile(r"\b([SL]-[\w.-]*\w)(, )?")
POINTS = 72 / 96
"""To a pixel of the page."""
KEPT = "Its numbers are of an earlier run and came with the source."
_SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)pt" height="([\d.]+)pt"')


def index(ran: Sequence[Result], kept: Sequence[Result], waiting: Sequence[str]) -> str:
    """Return the page that lists the experiments.

    Args:
        ran: what is in the evidence.
        kept: what is not, but was measured before and is kept with the source.
        waiting: the names of those that have no numbers.
    """
    results = [*ran, *kept]
    parts = [
        "# Experiments\n",
        "What the papers report to have seen in training, looked for again: each observation with"
        " a criterion that could have failed, and the numbers that decide it. Along each run"
        " the statements of the ledger are examined on the networks as they are then.\n",
        *(_listed(result) for result in ran),
        *(_listed(result, KEPT) for result in kept),
    ]
    if waiting:
        commands = "\n".join(f"python -m verify experiment {name}" for name in waiting)
        parts.append(f"## Not yet run\n\n```sh\n{commands}\n```\n")
    parts += ["## Every figure of the papers\n", raw(_paper_figures(results))]
    if results:
        names = "\n".join(result.name for result in results)
        parts.append(f"```{{toctree}}\n:hidden:\n:titlesonly:\n\n{names}\n```\n")
    return "\n".join(parts)


Sizes = Mapping[str, tuple[int, int]]
"""Width and height of pictures by their names, in pixels of the page."""


Entries = Mapping[str, Entry]
"""The ledger's, by identifier."""


def page(result: Result, sizes: Sizes, entries: Entries) -> str:
    """Return the page of an experiment as MyST text."""
    link = f'<a href="{on_one_line(result.name)}/numbers.json" download>All numbers (JSON)</a>.'
    return _page(result, sizes, entries, [], link)


def page_of_kept(result: Result, sizes: Sizes, entries: Entries) -> str:
    """Return the same of one whose numbers were measured before and are kept with the source."""
    place = f"experiments/{on_one_line(result.name)}/numbers.json"
    note = f"{KEPT} Today's are those of the command below.\n"
    numbers = f"All numbers: <code>docs/measured/{place}</code>."
    return _page(result, sizes, entries, [note], numbers)


def _page(
    result: Result, sizes: Sizes, entries: Entries, notes: Sequence[str], numbers: str
) -> str:
    trail = f'<a href="index.html">Experiments</a> · {_about(result.rows, entries)}'
    parts = [
        f"# {words(result.title)}\n",
        f'<p class="where">{trail}</p>\n',
        *(f"{_plain(paragraph)}\n" for paragraph in result.description.strip().split("\n\n")),
        *notes,
        _how(result, numbers),
        "## What was seen\n",
        *map(_observation, result.observations),
    ]
    if result.pictures:
        parts += ["## Figures\n", *(_figure(result, p, sizes[p.name]) for p in result.pictures)]
    if statements := [one for one in examined(result.pieces) if one.claim in entries]:
        parts += ["## Statements along the run\n", _statements(statements, entries)]
    return "\n".join(parts)


def _about(rows: Sequence[str], entries: Entries) -> str:
    """Return whose paper an experiment is of, and the statements of the ledger that it is about."""
    papers = dict.fromkeys(PAPERS[row[0]] for row in rows if row[0] in PAPERS)
    known = {entry.claim.result for entry in entries.values()}
    links = (
        f'<a href="../statements/{row}.html">{escape(TITLES[row])}</a>'
        for row in rows
        if row in known
    )
    return ", ".join([*papers, *links])


def where(source: str) -> str:
    """Return the place in a paper that an observation's source names, without its code.

    >>> where("S-lp, S-fig, sect. 3.3"), where("S-v1, sect. 3.3 (S-fig, Fig. 8)")
    ('Santurkar et al. 2018, sect. 3.3', 'Santurkar et al. 2018, first version, sect. 3.3 (Fig. 8)')
    >>> where("L-fig-8, centre"), where("L-fig-6-7, Fig. 7")
    ('Lange et al. 2022, Fig. 8, centre', 'Lange et al. 2022, Fig. 7')
    """
    place = _CODE.sub(
        lambda code: PLACES[code[1]] + (code[2] or "") if code[1] in PLACES else "", source
    )
    return ", ".join(filter(None, [PAPERS.get(source[:1]), place]))


def _plain(text: str) -> str:
    r"""Return plain text as Markdown, in a mathematician's signs.

    >>> _plain(r"by kappa(D)^2 as $\kappa(D)^2$, without linf and l_p, to 4.8e+02")
    'by κ(D)² as $\\kappa(D)^2$, without ℓ∞ and ℓₚ, to 480'
    """
    parts = text.split("$")
    return words("$".join(p if i % 2 else _in_signs(p) for i, p in enumerate(parts)))


def _in_signs(text: str) -> str:
    for letters, sign in SIGNS.items():
        text = re.sub(letters, sign, text)
    return typeset(text)


def size_of(drawing: str) -> tuple[int, int]:
    """Return the width and the height of an SVG document in points, in pixels of the page.

    Raises:
        ValueError: it does not say them in points.
    """
    if not (found := _SIZE.search(drawing)):
        raise ValueError("no SVG document with its size in points")
    width, height = map(float, found.groups())
    return round(width / POINTS), round(height / POINTS)


def _paper_figures(results: Sequence[Result]) -> str:
    by_name = {result.name: result for result in results}
    rows = [
        (
            f"{PAPERS[one.paper]}, {one.number if 'table' in one.number else f'Fig. {one.number}'}",
            escape(one.shows),
            _link(one.experiment, by_name),
            escape(one.axes),
            _seen(one, by_name),
            f"{escape(one.untried or 'nothing')}<br><code>{escape(one.command)}</code>",
        )
        for one in FIGURES
    ]
    header = (
        "paper",
        "shows",
        "here",
        "axes",
        "seen here",
        "not tried here; the command for the paper’s setting",
    )
    return table(header, rows, "witnesses")


def _link(name: str, results: Mapping[str, Result]) -> str:
    return f'<a href="{name}.html">{name}</a>' if name in results else name


def _seen(figure: PaperFigure, results: Mapping[str, Result]) -> str:
    """Return how often a figure's observations appeared: where it is drawn, and in others."""
    if figure.experiment not in results:
        return "not yet run"
    found = {name: summary(figure.seen(one.observations)) for name, one in results.items()}
    profile = on_one_line(results[figure.experiment].profile)
    own = f"{found.pop(figure.experiment) or 'drawn, without a claim in words'} (profile {profile})"
    others = (f"{_link(name, results)}: {counted}" for name, counted in found.items() if counted)
    return "; ".join([own, *others])


def _listed(result: Result, note: str = "") -> str:
    counted = summary(result.observations).capitalize()
    return (
        f"## [{words(result.title)}]({result.name}.md)\n\n{_run_with(result)}."
        f" {counted}. {note}".rstrip()
        + "\n"
    )


def _run_with(result: Result) -> str:
    data = words(result.data)
    return f"Profile {words(result.profile)}, {plural(len(result.seeds), 'seed')}, {data}"


def _how(result: Result, numbers: str) -> str:
    run = result.run
    versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    minutes = sum(result.seconds.values()) / 60
    gpu = "" if run.gpu.startswith("not run") else f" ({on_one_line(run.gpu)})"
    device, data = on_one_line(run.device), on_one_line(result.data)
    seeds = f"seed{'s' * (len(result.seeds) > 1)} {', '.join(map(str, result.seeds))}"
    line = (
        f"From a run of profile {on_one_line(result.profile)}, {seeds}, {data}, on {device}{gpu}"
        f" with {plural(run.threads, 'thread')}, commit <code>{on_one_line(run.commit)}</code>,"
        f" {minutes:.1f} minutes; {on_one_line(versions)}. {numbers}"
    )
    if run.source != of_everything():
        line += " The code has changed since."
    given = "" if result.data == WITHOUT_DATA else " --data FOLDER"
    options = f"--profile {quote(result.profile)} --seeds {len(result.seeds)}{given}"
    command = fenced(f"python -m verify experiment {quote(result.name)} {options}", "sh")
    return f'{command}\n<p class="run">{line}</p>\n'


def _observation(seen: Observation) -> str:
    mark = f'<span class="verdict {KINDS[seen.appeared]}">{WORDS[seen.appeared]}</span>'
    return (
        f'<p class="item">{mark} <span>{on_one_line(where(seen.source))}</span></p>\n\n'
        f"{_plain(seen.statement)}\n\n"
        f"Looked at\n: {_plain(seen.criterion)}\n\nFound\n: {_plain(seen.found)}\n"
    )


def _figure(result: Result, picture: Picture, size: tuple[int, int]) -> str:
    file = on_one_line(f"{result.name}/{picture.name}")
    alternative = on_one_line(f"{picture.title}. {picture.caption}").replace("$", "")
    width, height = size
    image = (
        f'<figure class="plot"><a href="{file}.svg"><img src="{file}.svg" width="{width}"'
        f' height="{height}" loading="lazy" alt="{alternative}"></a><figcaption>'
    )
    files = f'<p><a href="{file}.svg" download>SVG</a></p></figcaption></figure>'
    said = f"**{_plain(picture.title).rstrip('.')}.** {_plain(picture.caption)}"
    return f"{raw(image)}\n{said}\n\n{raw(files)}"


def _statements(statements: Sequence[Examined], entries: Entries) -> str:
    claims = [entries[one.claim].claim for one in statements]
    names = ("statement", "verdict", "instances", "violated", "undecided", "vacuous")
    rows = [
        (
            told_apart(claim, claims),
            decided(entries[claim.id]) + (" <b>unexpected</b>" if one.is_unexpected else ""),
            *(f"{n:,}" for n in (one.decided, one.violated, one.undecided, one.vacuous)),
            "" if one.worst_ratio is None else typeset(f"{one.worst_ratio:.6g}"),
        )
        for one, claim in zip(statements, claims, strict=True)
    ]
    refuted = [one for one in statements if entries[one.claim].verdict is Verdict.REFUTED]
    failed = sum(one.violated > 0 for one in refuted)
    is_imposed = any(map(imposed_by, claims))
    imposed = ", their inputs or loss changed where a hypothesis is imposed" if is_imposed else ""
    also = f" Of the {len(refuted)} that the ledger refutes, {failed} failed there too."
    line = (
        f"{plural(len(statements), 'statement')} examined at layers of the networks as they were"
        f" trained{imposed}.{also if refuted else ''} The ratio is the largest"
        " actual/claimed, of a lower bound claimed/actual; above one it is a violation, where the"
        " statement is a bound, and where the side below is not positive a violation has none."
        " Vacuous are instances that do not meet the hypotheses.\n"
    )
    header = (*names, "ratio")
    return f"{line}\n{raw(table(header, rows, 'witnesses'))}"
