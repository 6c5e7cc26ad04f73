import html.parser
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from site_cases import CLAIMS, PROVED, REFUTED, WAITING

from verify.site.build import write_pages


class Links(html.parser.HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.remote: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.add(found["id"])
        for name in ("href", "src"):
            target = found.get(name)
            if target and target.startswith(("http:", "https:", "//")):
                if tag != "a":
                    self.remote.append(target)
            elif target and not target.startswith(("data:", "mailto:", "javascript:")):
                self.targets.append(target)


@pytest.fixture(scope="module")
def pages(site):
    return {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_internal_links_lead_somewhere(pages, site):
    broken = []
    for path, page in pages.items():
        for target in page.targets:
            file, fragment = urldefrag(re.sub(r"\?[^#]*", "", target))
            there = path if not file else (path.parent / unquote(file)).resolve()
            there = there / "index.html" if there.is_dir() else there
            ids = pages[there].ids if there in pages else {unquote(fragment)}
            if not there.exists() or (fragment and unquote(fragment) not in ids):
                broken.append((path.name, target))
    assert not broken


def test_nothing_is_loaded_from_elsewhere(pages):
    assert {url for page in pages.values() for url in page.remote} == set()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claim_has_its_permanent_address(claim, pages, site):
    page = pages[site / "statements" / f"{claim.id.partition('/')[0]}.html"]
    assert claim.id in page.ids


def test_ledger_counts_verdicts(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert text.count("<tr data-paper") == len(CLAIMS)
    assert "<b>2</b> proved" in text
    assert "<b>1</b> refuted" in text


def test_proof_is_shown_as_mathematics(site):
    text = (site / "statements" / f"{PROVED}.html").read_text(encoding="utf-8")
    assert r"\frac{\epsilon\,\gamma^{2}}{m\,\sigma^{4}}" in text


def test_counterexample_is_shown_with_both_sides(site):
    text = (site / "statements" / f"{REFUTED}.html").read_text(encoding="utf-8")
    assert r"y = \left(0, 1, 0\right)" in text
    assert r"\underbrace{\frac{1}{4} + \frac{\sqrt{2}}{3}}_{\text{actual}}" in text


def test_errata_have_five_lines(site):
    text = (site / "errata.html").read_text(encoding="utf-8")
    for line in ("Printed", "Counterexample", "Where it breaks", "Right", "How sure"):
        assert text.count(f">{line}<") == 1


def test_missing_evidence_shows_as_not_yet_run(site):
    text = (site / "statements" / f"{WAITING.partition('/')[0]}.html").read_text(encoding="utf-8")
    assert "Actual against claimed: not yet run." in text
    assert 'class="verdict not-yet-run"' in text


def test_figures_are_files_with_their_numbers(site):
    figures = site / "figures"
    assert (figures / "S-thm-4.1.actual.svg").exists()
    assert (figures / "S-thm-4.1.training-dense.svg").exists()
    assert (figures / "S-thm-4.1.actual.csv").read_text().startswith("witness,stratum,m,actual")
    for picture in figures.glob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert "<title" in text
        assert "<desc" in text


def test_no_path_of_this_machine(site, sources):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert str(sources) not in text
        assert str(Path.home()) + "/" not in text


def test_without_evidence_everything_is_not_yet_run(tmp_path):
    write_pages(tmp_path / "nothing", tmp_path / "docs", CLAIMS)
    ledger = (tmp_path / "docs" / "generated" / "ledger.md").read_text(encoding="utf-8")
    assert f"<b>{len(CLAIMS)}</b> not yet run" in ledger
    assert not (tmp_path / "docs" / "generated" / "files" / "figures").exists()
