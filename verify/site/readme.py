"""The part of the README that comes from the evidence: counts, the main results, pictures.

It stands between two comments, and is written, with the pictures, by ``python -m verify readme``
from evidence that nothing has outdated; ``--check`` compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from theory.summary import Section
from verify.engine import Known
from verify.headlines import Headline, counted, headlines
from verify.ledger import Entry
from verify.site.build import write_file
from verify.site.figures import Figure, figures
from verify.site.statements import paper_of

README = Path("README.md")
FOLDER = Path("docs/pictures")
BEGIN, END = "<!-- the ledger: from the evidence -->", "<!-- end of the ledger -->"
PICTURES = (("S-thm-4.1-supp", "actual"), ("S-thm-4.1/eps", "slack"))
"""Which figure of which claim is shown: one that falls, and one that stands with room."""
EARLIER = "First version"
"""How the titles of what a later version replaced begin."""
VERTICAL = r"\vert "
"""A bar that does not end a table's cell."""


class ReadmeError(ValueError):
    """The README has no place for the ledger, or says something else than the evidence."""


def write(entries: Sequence[Entry], found: Known, readme: Path = README) -> list[Path]:
    """Write the README's part and its pictures; return the files written.

    Raises:
        ReadmeError: the README lacks the two comments, a picture has nothing to show, or a file
            cannot be written.
    """
    pictures = {readme.parent / FOLDER / f.name: f for f in _pictures(entries, found)}
    before, _, after = _split(readme)
    text = f"{before}{BEGIN}\n{block(entries, found)}{END}{after}"
    files = {readme: text, **{path: figure.content for path, figure in pictures.items()}}
    try:
        for path, content in files.items():
            write_file(path, content)
    except OSError as error:
        raise ReadmeError(f"{error.filename} cannot be written ({error.strerror})") from None
    return list(files)


def check(entries: Sequence[Entry], readme: Path = README) -> None:
    """Compare the README with the evidence.

    Raises:
        ReadmeError: they differ.
    """
    written = _split(readme)[1]
    for part in (counts(entries), table(entries)):
        if part not in written:
            raise ReadmeError(
                f"{readme} does not say what the evidence says; run 'python -m verify readme'."
                f" Expected there:\n{part}"
            )


def block(entries: Sequence[Entry], found: Known) -> str:
    """Return the part as Markdown."""
    pictures = "\n\n".join(
        f"![{f.alternative}]({(FOLDER / f.name).as_posix()})" for f in _pictures(entries, found)
    )
    return f"\n{counts(entries)}\n{table(entries)}\n{pictures}\n\n"


def counts(entries: Sequence[Entry]) -> str:
    """Return how many statements of the papers hold."""
    return f"**{counted(headlines(entries))}.**\n"


def table(entries: Sequence[Entry]) -> str:
    """Return a line for each result of the papers' last versions."""
    found = [h for h in headlines(entries) if h.section is Section.RESULTS]
    rows = [_row(h) for h in found if not h.title.startswith(EARLIER)]
    header = ["| statement | where | as printed | what is wrong, or needed | right form |"]
    return "\n".join([*header, "|---|---|---|---|---|", *rows, ""])


def _row(headline: Headline) -> str:
    paper = paper_of(headline.first.claim).key
    cells = (
        headline.title,
        f"{paper}, {headline.place}",
        headline.verdict,
        headline.what_is_wrong,
        headline.right,
    )
    return f"| {' | '.join(cell.replace('|', VERTICAL) for cell in cells)} |"


def _pictures(entries: Sequence[Entry], found: Known) -> list[Figure]:
    by_id = {entry.claim.id: entry for entry in entries}
    drawn = [(name, figures(by_id[name], found.run_of(name))[kind]) for name, kind in PICTURES]
    empty = [name for name, shown in drawn if not shown]
    if empty:
        raise ReadmeError(f"nothing was measured of {', '.join(empty)}: run 'make verify' first")
    return [shown[0] for _, shown in drawn]


def _split(readme: Path) -> tuple[str, str, str]:
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ReadmeError(f"{readme} lacks the comments {BEGIN!r} and {END!r}")
    return before, inside, after
