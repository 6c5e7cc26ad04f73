"""A small site of somebody's statements: written and built in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Self

from theory.statement import Paper, Statement
from verify import engine, others
from verify.engine import Known
from verify.ledger import Entry, as_json, ledger
from verify.site import errata_page, ledger_page, papers_page, statement_page
from verify.site.build import drawn_once, figure_files, neighbours, write_file
from verify.site.sources import module_of
from verify.site.statements import papers, statements

MARK = ".written-by-batchnorm-theory"
"""A file of this name says that a folder may be written anew."""


@dataclass(frozen=True)
class OthersSite:
    """What the site is made from, and where it goes."""

    target: str
    claims: Sequence[Statement]
    evidence: Path
    folder: Path

    @classmethod
    def of(cls, target: str, evidence: Path, folder: Path | None = None) -> Self:
        """Return the site of a target's statements.

        Raises:
            OthersError: the target names none, or wrong ones.
        """
        found = others.resolved(target)
        claims = engine.statements(found)
        return cls(target, claims, evidence, folder or Path("site") / evidence.name)

    def write(self) -> Path:
        """Write and build the site; return its first page.

        Raises:
            OthersError: the folder holds something else, or the site cannot be built.
            EvidenceError: there is no evidence, or it is damaged.
        """
        import_module("sphinx")  # what is missing is said before anything is written
        _refuse_strange(self.folder)
        known = engine.known(self.evidence, self.claims)
        entries = ledger(self.claims, known.records)
        shutil.rmtree(self.folder, ignore_errors=True)
        write_file(self.folder / MARK, "")
        source, html = self.folder / "source", self.folder / "html"
        for name, content in self._files(entries, known).items():
            write_file(source / name, content)
        if _build(source, html):
            raise others.OthersError(f"Sphinx could not build {source}; see above")
        return html / "index.html"

    def _files(self, entries: Sequence[Entry], known: Known) -> Mapping[str, str | bytes]:
        """Return the site's sources by their names."""
        grouped = statements(entries)
        stood_in = papers(grouped)
        modules = {module_of(claim) for claim in self.claims}
        drawn = drawn_once(entries, known)
        return {
            "conf.py": _configuration(stood_in),
            "index.md": _index(stood_in),
            "errata.md": "# Errata\n\n```{include} generated/errata.md\n```\n",
            "generated/ledger.md": ledger_page.page(entries),
            "generated/errata.md": errata_page.of_others(entries),
            "generated/files/ledger.json": json.dumps([as_json(e) for e in entries], indent=1),
            **{
                f"statements/paper-{paper.key}.md": papers_page.page(
                    paper, [s for s in grouped if s.paper == paper]
                )
                for paper in stood_in
            },
            **{
                f"statements/{s.name}.md": statement_page.page(
                    s, drawn, *neighbours(grouped)[s.name], self.target
                )
                for s in grouped
            },
            **{f"reference/{m.__name__}.md": _code(m) for m in modules if m is not None},
            **figure_files(entries, drawn),
        }


def _build(source: Path, html: Path) -> int:
    """Have Sphinx build a site in a process of its own; return its exit status."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(source), str(html)]
    found = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(command, env={**os.environ, **found}, check=False).returncode


def _refuse_strange(folder: Path) -> None:
    """Refuse a folder that holds what was not written here."""
    is_taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if folder.is_symlink() or (is_taken and not (folder / MARK).is_file()):
        raise others.OthersError(f"{folder} is no empty folder; name another one with --to")


def _configuration(stood_in: Sequence[Paper]) -> str:
    title = f"Statements of {', '.join(paper.short for paper in stood_in)}"
    return (
        f'"""How Sphinx builds this site."""\n\nfrom verify.site.configuration import *\n\n'
        f"project = html_title = {title!r}\n"
    )


def _index(stood_in: Sequence[Paper]) -> str:
    cited = "\n".join(f"- {paper.citation}" for paper in stood_in)
    listed = "\n".join(f"statements/paper-{paper.key}" for paper in stood_in)
    return (
        "---\nhide-toc: true\n---\n\n# The ledger\n\n"
        f"The statements of\n\n{cited}\n\neach examined as printed.\n\n"
        "```{include} generated/ledger.md\n```\n\n"
        f"```{{toctree}}\n:hidden:\n:titlesonly:\n\nThe ledger <self>\nerrata\n{listed}\n```\n"
    )


def _code(module: ModuleType) -> str:
    """Return a page with the file that writes statements down, as it is."""
    code = Path(str(module.__file__)).read_text(encoding="utf-8")
    return f"---\norphan: true\n---\n\n# {module.__name__}\n\n````python\n{code}````\n"
