"""The generated sources of the site, from an evidence folder alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from theory.statement import Statement
from verify import engine, experiments, json_lines
from verify.campaign import journal
from verify.campaign.finding import Finding
from verify.engine import Known
from verify.evidence import EvidenceError, Run
from verify.experiments import evidence as found
from verify.experiments.evidence import Result
from verify.headlines import headlines
from verify.ledger import Entry, as_json, ledger
from verify.site import (
    api_pages,
    benchmarks_page,
    campaigns_page,
    drawings,
    errata_page,
    experiments_page,
    front_page,
    gpu_page,
    implementations_page,
    ledger_page,
    other_checkers_page,
    papers_page,
    result_page,
    statement_page,
)
from verify.site.figures import Figure, figures
from verify.site.statements import Group, page_of, papers, statements
from verify.site.vector import shorter

DOCS = Path("docs")
MEASURED = Path("docs/measured")
"""What was measured before and is kept with the source, as each page of it says."""
GENERATED = ("generated", "errata", "statements", "experiments", "implementations", "reference")
"""The folders below the site's sources that are written here, and only here."""


def write_pages(
    evidence: Path,
    target: Path = DOCS,
    claims: Sequence[Statement] | None = None,
    measured: Path = MEASURED,
) -> int:
    """Write the pages, pictures and tables of numbers below the site's sources.

    ``generated`` holds what the front page and the errata include and the files that are copied
    to the site's root; the other folders hold pages.  Without evidence every statement is shown as
    not yet run, and every experiment as it was when its numbers were kept with the source.  Returns
    how many files were written.

    Raises:
        EvidenceError: evidence is damaged, a picture is missing, or a page cannot be written.
    """
    found = _evidence(evidence, claims)
    run = None if found is None else found.run
    records = [] if found is None else found.records
    entries = ledger(engine.CLAIMS if claims is None else claims, records)
    _check_is_the_sites(target)
    drawn = drawn_once(entries, found)
    files = {
        **{f"generated/{name}": text for name, text in _included(entries, run, measured).items()},
        **{f"errata/{name}": text for name, text in errata_page.pages(entries).items()},
        **{f"statements/{name}": text for name, text in _statements(entries, drawn).items()},
        **{f"reference/{name}": text for name, text in api_pages.pages().items()},
        **figure_files(entries, drawn),
        **_experiments(evidence, measured, entries),
        **_implementations(measured),
        "generated/files/ledger.json": _densely([as_json(entry) for entry in entries]),
    }
    places = {_inside(target, name): content for name, content in files.items()}
    try:
        for path in _written_before(target):
            if path not in places:
                path.unlink()
        for path, content in places.items():
            write_file(path, content)
    except OSError as error:
        raise EvidenceError(
            f"{error.filename} cannot be written ({error.strerror}); write the site's pages in a "
            "copy of the sources that can"
        ) from None
    return len(files)


def _written_before(target: Path) -> list[Path]:
    folders = [target.resolve() / name for name in GENERATED]
    return [path for folder in folders for path in folder.rglob("*") if not path.is_dir()]


def _densely(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def _check_is_the_sites(target: Path) -> None:
    """What is written here replaces whole folders; those of another project are not ours."""
    if target.exists() and not (target / "conf.py").exists() and any(
        (target / name).exists() for name in GENERATED
    ):  # fmt: skip
        raise EvidenceError(
            f"{target.resolve()} is not the site's: it has no conf.py, and folders that would be "
            "replaced; run this where the project is"
        )


def _inside(target: Path, name: str) -> Path:
    """Return where a file goes; the name may come from evidence that somebody else wrote."""
    path = (target / name).resolve()
    if not any(path.is_relative_to(target.resolve() / part) for part in GENERATED):
        raise EvidenceError(
            f"a file of the evidence is called {name!r}, outside of the site's folders"
        )
    return path


def _evidence(folder: Path, claims: Sequence[Statement] | None) -> Known | None:
    try:
        return engine.known(folder, claims)
    except EvidenceError:
        if (folder / "evidence.jsonl").exists():
            raise
        return None


def _included(entries: Sequence[Entry], run: Run | None, measured: Path) -> dict[str, str]:
    return {
        "front.md": front_page.page(entries, run),
        "entries.md": ledger_page.page(entries),
        "errata.md": errata_page.index(entries),
        "campaigns.md": campaigns_page.page(_campaigns(measured / "campaigns")),
        "gpu.md": gpu_page.page(measured / "gpu.json"),
        "benchmarks.md": benchmarks_page.page(measured / "benchmarks.json"),
    }


def _campaigns(folder: Path) -> dict[str, tuple[Run, list[Finding]]]:
    return {file.stem: journal.read(file) for file in sorted(folder.glob("*.jsonl"))}


def _statements(entries: Sequence[Entry], drawn: statement_page.Figures) -> dict[str, str]:
    grouped = statements(entries)
    beside = neighbours(grouped)
    pages = {}
    for line in headlines(entries):
        own = [s for s in grouped if s.claim.result == line.name]
        if line.name not in beside:
            pages[f"{line.name}.md"] = result_page.page(line, own)
        for s in own:
            others = [other for other in own if other is not s] if s.name == page_of(line) else []
            found = statement_page.page(s, drawn, *beside[s.name], siblings=others)
            pages[f"{s.name}.md"] = found
    for paper in dict.fromkeys((*engine.PAPERS, *papers(grouped))):
        own = [s for s in grouped if s.paper == paper]
        pages[f"paper-{paper.key}.md"] = papers_page.page(paper, own)
    return pages


def neighbours(grouped: Sequence[Group]) -> dict[str, tuple[Group | None, Group | None]]:
    """Return the statements before and after each, by its name."""
    known = [None, *grouped, None]
    return {
        here.name: (before, after)
        for (before, here), (_, after) in zip(pairwise(known), pairwise(known[1:]), strict=False)
        if here is not None
    }


def drawn_once(entries: Sequence[Entry], found: Known | None) -> statement_page.Figures:
    """Return what gives the figures of an entry, which pages and files show."""
    runs = {e.claim.id: None if found is None else found.run_of(e.claim.id) for e in entries}
    drawn = {entry.claim.id: figures(entry, runs[entry.claim.id]) for entry in entries}
    return lambda entry: drawn[entry.claim.id]


def figure_files(entries: Sequence[Entry], drawn: statement_page.Figures) -> dict[str, str | bytes]:
    """Return the pictures, and the tables of their numbers, by their files."""
    shown: list[Figure] = [
        figure for entry in entries for kind in drawn(entry).values() for figure in kind
    ]
    pictures: dict[str, str | bytes] = {
        f"generated/files/figures/{f.name}": f.content for f in shown
    }
    tables = {f"generated/files/figures/{f.table_name}": f.table for f in shown if f.table}
    return {**pictures, **tables}


def _experiments(
    evidence: Path, measured: Path, entries: Sequence[Entry]
) -> dict[str, str | bytes]:
    """Return the experiments' pages: of their last runs, else of those kept with the source."""
    ran = found.read_all(evidence)
    known = {result.name for result in ran}
    kept = [result for result in found.read_all(measured) if result.name not in known]
    waiting = set(experiments.names()) - known - {result.name for result in kept}
    by_id = {entry.claim.id: entry for entry in entries}
    files: dict[str, str | bytes] = {
        "experiments/index.md": experiments_page.index(ran, kept, sorted(waiting))
    }
    for result in ran:
        folder = found.folder_of(evidence, result.name)
        files |= _experiment(folder, result, partial(experiments_page.page, entries=by_id))
        numbers = json.loads((folder / found.FILE).read_bytes())
        files[f"{_files_of(result)}/{found.FILE}"] = _densely(numbers)
    for result, folder in drawings.drawn(kept, measured):
        files |= _experiment(folder, result, partial(experiments_page.page_of_kept, entries=by_id))
    return files


def _experiment(
    folder: Path, result: Result, page: Callable[[Result, Mapping[str, Any]], str]
) -> dict[str, str | bytes]:
    """Return the page of a result, and the pictures of its folder that it shows."""
    drawings = found.drawings(folder, result)
    sizes = {name: experiments_page.size_of(drawing) for name, drawing in drawings.items()}
    root = _files_of(result)
    return {
        f"experiments/{result.name}.md": page(result, sizes),
        **{f"{root}/{name}.svg": shorter(drawing) for name, drawing in drawings.items()},
    }


def _files_of(result: Result) -> str:
    return f"generated/files/experiments/{result.name}"


def _implementations(measured: Path) -> dict[str, str | bytes]:
    files = sorted(measured.glob("*.jsonl"), key=lambda file: file.stem)  # a GPU's behind a CPU's
    lines = [line for file in files for line in json_lines.read(file)]
    checkers = measured / "other_checkers.json"
    noticed = json.loads(checkers.read_text(encoding="utf-8")) if checkers.exists() else None
    return {
        "implementations/index.md": implementations_page.index(lines),
        "implementations/other-checkers.md": other_checkers_page.page(noticed),
        **{
            f"implementations/{implementations_page.slug(line)}.md": implementations_page.page(line)
            for line in lines
        },
    }


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file of the site, and the folders above it; one that is so already stays untouched.

    Sphinx reads again what was touched.
    """
    new = content if isinstance(content, bytes) else content.encode()
    if not path.is_file() or path.read_bytes() != new:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(new)
