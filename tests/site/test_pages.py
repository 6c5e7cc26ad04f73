import html.parser
import json
import re
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag

import pytest
from site_cases import CLAIMS, EXPERIMENT, PROVED, RECORDS, REFUTED, RESULT, SHOWN, WAITING

from theory.language.letters import number_of
from theory.matrix_claim import Kind
from theory.statement import Form, Relation, Verdict
from verify import engine, experiments
from verify.description import describe_run
from verify.evidence import EvidenceError
from verify.experiments.experiment import Observation
from verify.headlines import headlines
from verify.ledger import Entry, entry, ledger
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof, Theorem
from verify.show import shown_entry
from verify.site import (
    api_pages,
    drawings,
    experiments_page,
    findings,
    frame,
    front_page,
    papers_page,
    result_page,
    statement_page,
)
from verify.site.build import drawn_once, write_pages
from verify.site.figures import figures
from verify.site.markup import formula_or_words
from verify.site.statement_page import in_words
from verify.site.statements import Group, heading, page_of, plain_title, statements

HYPOTHESIS = next(h for claim in engine.CLAIMS for h in claim.hypotheses)
BY_ID = {claim.id: claim for claim in engine.CLAIMS}
ROOT = Path(__file__).resolve().parents[2]


class Links(html.parser.HTMLParser):
    """Where a page leads.  The theme's icons refer to pictures that stand in the style sheet."""

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
            elif target and not target.startswith(("data:", "mailto:", "javascript:", "#svg-")):
                self.targets.append(target)


@pytest.fixture(scope="module")
def pages(site):
    return {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_internal_links_lead_somewhere(pages, site):
    """The campaigns are about statements that this small site leaves out."""
    broken = []
    for path, page in pages.items():
        if path.name == "campaigns.html":
            continue
        for target in page.targets:
            file, fragment = urldefrag(re.sub(r"\?[^#]*", "", target))
            there = path if not file else (path.parent / unquote(file)).resolve()
            there = there / "index.html" if there.is_dir() else there
            ids = pages[there].ids if there in pages else {unquote(fragment)}
            if not there.exists() or (fragment and unquote(fragment) not in ids):
                broken.append((path.name, target))
    assert not broken


def test_a_page_that_shows_the_list_of_pages_by_a_script_leads_to_all_of_them(pages, site):
    script = (site / "_static" / "navigation.js").read_text(encoding="utf-8")
    listed = Links(json.loads(script.partition(" = ")[2].partition(";\n/*")[0]))
    shared = pages[site / "statements" / f"{PROVED}.html"]
    assert "../_static/navigation.js" in shared.targets
    assert {(site / target).exists() for target in listed.targets} == {True}
    assert {"index.html", "guides/start.html"} <= set(listed.targets) <= pages_led_to(pages, site)


def test_the_whole_reference_lists_pages_that_are_written():
    written = api_pages.pages()
    listed = re.findall(r"^- \[.*\]\((.*\.md)\)", "\n".join(written.values()), re.MULTILINE)
    assert {"index.md", *listed} == written.keys()
    lists = [text for name, text in written.items() if "eval-rst" not in text]
    assert not re.findall(r".*:\w+:`.*", "\n".join(lists))


def pages_led_to(pages, site):
    """Where the front page leads, which has the list for readers without scripts."""
    return set(pages[site / "index.html"].targets) | {"index.html"}


def test_nothing_is_loaded_from_elsewhere(pages):
    assert {url for page in pages.values() for url in page.remote} == set()


def test_every_page_but_that_of_searches_is_described_once(site):
    described = {
        path.name: len(re.findall('<meta [^>]*name="description"', path.read_text("utf-8")))
        for path in site.rglob("*.html")
    }
    assert described.pop("search.html") == 0
    assert set(described.values()) == {1}


def test_no_two_pages_are_called_alike():
    names = Counter(map(heading, statements(ledger(engine.CLAIMS, []))))
    assert [name for name, count in names.items() if count > 1] == []
    assert "The gradient, line by line, eq. (5)" in names
    assert "The Hessian along the gradient, expanded, eq. (48), supplement" in names


def test_a_line_of_the_ledger_leads_to_a_page_that_opens_with_what_it_shows():
    entries = ledger(engine.CLAIMS, [])
    pages = {group.name: group for group in statements(entries)}
    for line in headlines(entries):
        if page_of(line) in pages:
            opening = pages[page_of(line)]
            assert opening.claim.id == line.first.claim.id
            assert opening.where or heading(opening) == line.title or opening.name != line.name
    assert page_of(next(h for h in headlines(entries) if h.name == "S-steps")) == "S-steps"


@pytest.fixture(scope="module")
def every_page():
    """The page of each statement of the papers, of which nothing is run."""
    grouped = statements(ledger(engine.CLAIMS, []))
    return {group.name: statement_page.page(group, lambda entry: {}) for group in grouped}


def page_alone(*claims):
    """The page of statements of which nothing is run."""
    group = Group("S-thm-4.1", tuple(ledger(claims, [])))
    return statement_page.page(group, lambda entry: {})


@pytest.mark.parametrize(
    ("title", "heading"),
    [
        ("a layer", "A layer"),
        ("near-optimal weights", "Near-optimal weights"),
        ("softmax: a direction", "Softmax: a direction"),
        ("kW* gives it", "kW* gives it"),
        ("r is below one", "r is below one"),
        ("γ = σ, β given", "γ = σ, β given"),
        ("x_i, centred", "x_i, centred"),
    ],
)
def test_a_symbol_that_a_title_begins_with_stays(title, heading):
    assert plain_title(replace(CLAIMS[0], title=title)) == heading


def test_a_list_of_pages_shows_the_verdicts_of_the_ledgers_lines():
    decided = {"S-thm-4.1": Verdict.PROVED, "S-thm-4.1/two-networks": Verdict.REFUTED}
    entries = [Entry(c, (), decided[c.id]) for c in CLAIMS if c.id in decided]
    [group], [line] = statements(entries), headlines(entries)
    for page in (papers_page.page(group.paper, [group]), result_page.page(line, [group])):
        assert front_page.verdicts(line) in page
        assert "refuted</span> <small>of two networks</small>" in page


def test_what_is_remarked_is_shown_with_its_asterisks():
    claim = replace(CLAIMS[0], remark="at W*, see [1]; it moves with W*")
    page = page_alone(claim)
    assert r"at W\*, see \[1\]; it moves with W\*" in page


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("so it *always* holds", ": “… so it *always* holds …”</p>"),
        ("We have this.", ": “We have this.”</p>"),
        (r"\frac{1}{m}", ")</p>"),
        ("x_i", ")</p>"),
    ],
)
def test_of_a_text_words_are_quoted_and_no_source_of_a_formula(quote, said):
    claim = replace(CLAIMS[0], locations=(replace(CLAIMS[0].locations[0], quote=quote, line=7),))
    page = page_alone(claim)
    assert f"line 7 of its conversion{'' if said[0] == ')' else ')'}{said}" in page


@pytest.mark.parametrize(
    ("form", "expected", "said"),
    [
        (Form.CORRECTED, Verdict.PROVED, "(missing from the text)"),
        (Form.SHARPENED, Verdict.PROVED, "(added here)"),
        (Form.READING, Verdict.REFUTED, "(added here)"),
        (Form.BOUNDARY, Verdict.PROVED, "(added here)"),
    ],
)
def test_the_text_lacks_what_a_statement_needs_and_not_what_is_made_special(form, expected, said):
    added = replace(HYPOTHESIS, printed=False)
    claim = replace(CLAIMS[0], form=form, expected=expected)
    assert said in statement_page.assumed(claim, added)
    assert "*(" not in statement_page.assumed(claim, replace(added, printed=True))
    assert "(added here)" in statement_page.assumed(claim, replace(added, is_ours=True))


def test_a_page_that_opens_with_a_correction_says_so(every_page):
    said = "In its corrected form; what the text says is below:"
    opened = {name for name, page in every_page.items() if said in page}
    assert opened == {"S-v1-remark-spectral", "L-prop-10", "L-LN-GN", "L-def-minimiser"}


def test_subscripts_of_a_remark_are_set_as_such():
    claim = replace(CLAIMS[0], remark="D₀ and xᵢ₊₁, whose squares are x²")
    page = page_alone(claim)
    assert "D<sub>0</sub> and x<sub>i+1</sub>, whose squares are x²" in page


def test_a_list_of_a_statements_pages_leads_back_to_the_ledger_and_the_paper():
    entries = ledger(engine.CLAIMS, [])
    line = next(h for h in headlines(entries) if h.name == "S-steps")
    page = result_page.page(line, [s for s in statements(entries) if s.claim.result == line.name])
    assert '<a href="../index.html">The ledger</a> · <a href="paper-S.html">' in page


def test_a_remark_leads_to_the_entries_that_it_names():
    claim = replace(CLAIMS[0], remark="By S-thm-4.1/eps. S-thm-9/eps is none, as L-prop-10 is.")
    page = page_alone(claim)
    assert 'By <a href="../statements/S-thm-4.1.html#S-thm-4.1/eps">' in page
    assert "S-thm-9/eps is none" in page
    assert "as <a href" in page


def test_no_sentence_ends_twice(every_page):
    twice = re.compile(r"\w\.\.(?![./])")
    assert [name for name, page in every_page.items() if twice.search(page)] == []


def test_a_formula_of_another_text_is_said_to_be_its(every_page):
    named = [name for name, page in every_page.items() if "As the last version prints it:" in page]
    assert named == ["S-eq-36-supp", "S-eq-38-supp", "S-eq-41-42-supp", "S-eq-48-supp"]


@pytest.mark.parametrize(("device", "said"), [("", "numpy, commit"), ("cpu", "numpy on cpu, ")])
def test_the_footer_names_a_device_where_there_is_one(device, said):
    run = describe_run("smoke", 0, "numpy", device)
    assert f"backend {said}" in front_page.page([], run)


def test_every_entry_is_listed_and_verdicts_are_counted(site):
    text = (site / "entries.html").read_text("utf-8")
    assert text.count("<tr data-paper") == len(SHOWN)
    assert "<b>2</b> proved" in text
    assert "<b>1</b> refuted" in text
    assert 'class="verdict not-yet-run"' in text


def test_the_front_page_has_a_line_for_each_statement_that_leads_on(site):
    text = (site / "index.html").read_text("utf-8")
    assert 'href="statements/S-thm-4.1.html"' in text
    assert "The gradient with and without the layer" in text
    assert 'href="errata/santurkar-2018.html#erratum-root-of-m"' in text
    assert "S-thm-4.1-supp<" not in text


def test_proof_is_shown_as_mathematics(site):
    text = (site / "statements" / f"{PROVED}.html").read_text("utf-8")
    assert r"\frac{\epsilon \gamma^{2}}{m \sigma^{4}}" in text


@pytest.mark.parametrize(
    ("count", "relation", "said"),
    [
        (1, Relation.AT_MOST, "a term that is never negative"),
        (2, Relation.AT_LEAST, "a sum of terms that are never negative"),
        (1, Relation.LESS_THAN, "a term that is positive"),
        (2, Relation.MORE_THAN, "a sum of terms that are never negative, one of them positive"),
    ],
)
@pytest.mark.parametrize("length", [0, 500])
def test_a_slack_is_told_in_words_and_without_a_weight_of_one(
    count, relation, said, length, monkeypatch
):
    monkeypatch.setattr(findings, "LONGEST", length)
    claim = BY_ID["S-remark-growth/middle-term/sharpened"]
    claim = replace(claim, says=replace(claim.says, relation=relation))
    proof = Proof((EVERY_M,), "slack", ("(1) * (x)^2",) * count)
    entry = Entry(claim, (Record(claim.id, "abstract", proof=proof),), Verdict.PROVED)
    shown = findings.proof(entry)
    assert f"the slack is {said}" in shown
    assert "= 1 " not in shown


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (("(1) * [a]",), "the difference of the sides is a term that a hypothesis makes zero"),
        (
            ("(1) * [a]", "(0) * [b]"),
            "the difference of the sides is a sum of terms that hypotheses make zero",
        ),
        (("(0) * [a]",), "the two sides are the same expression"),
    ],
)
def test_an_equations_terms_are_zero_and_as_many_as_are_displayed(terms, said):
    claim = BY_ID["S-obs-4.3/minima/fixed/corrected"]
    proof = Proof((EVERY_M,), "slack", terms)
    entry = Entry(claim, (Record(claim.id, "abstract", proof=proof),), Verdict.PROVED)
    assert said in findings.proof(entry)


@pytest.mark.parametrize(
    ("verdict", "opening", "cell"),
    [
        (Verdict.PROVED, "**Checked by Coq's kernel**", "proof for every m"),
        (Verdict.REFUTED, "**That it fails is checked by Coq's kernel**", "proof that it fails"),
    ],
)
def test_what_the_kernel_proves_of_a_refuted_statement_is_that_it_fails(verdict, opening, cell):
    theorem = Theorem("a", "Theory.v", "A -> B", (), "8.20", "coqc Theory.v")
    proof = Proof((EVERY_M,)) if verdict is Verdict.PROVED else None
    record = Record(CLAIMS[0].id, "kernel", proof=proof, theorem=theorem)
    entry = Entry(CLAIMS[0], (record,), verdict)
    assert findings.theorem(entry).startswith(opening)
    assert f"<td>{cell}</td>" in findings.witnesses(entry)


def test_what_is_refuted_has_no_proof_at_sizes_where_it_may_have_no_instance():
    record = Record(CLAIMS[0].id, "symbolic", proof=Proof(({"m": 2}, {"m": 3})))
    shown = findings.witnesses(Entry(CLAIMS[0], (record,), Verdict.REFUTED))
    assert "<td>no violation, or no instance, at the sizes that it looks at</td>" in shown
    assert "proof" not in shown


def test_a_theorem_that_assumes_more_than_its_statement_says_so():
    theorem = Theorem("a", "Theory.v", "A -> B", (), "8.20", "coqc Theory.v", besides=("norm2 u",))
    entry = Entry(CLAIMS[0], (Record(CLAIMS[0].id, "kernel", theorem=theorem),), Verdict.PROVED)
    shown = findings.theorem(entry)
    assert shown.startswith("**Checked by Coq's kernel** (under an assumption, so that")
    assert "It assumes besides the statement that `norm2 u` is not zero" in shown
    assert "<td>proof under an assumption</td>" in findings.witnesses(entry)


def test_why_nothing_is_proved_is_said_in_the_words_of_show():
    claim = CLAIMS[0]
    record = Record(claim.id, "abstract", instances=300, unproved="not seen to vanish: <c, g>**2")
    [silent] = ledger([claim], [record])
    page = statement_page.page(Group("S-thm-4.1", (silent,)), lambda entry: {})
    assert "no proof (abstract): not seen to vanish: <c, g>**2" in shown_entry(silent)
    assert "\nNo proof (abstract): not seen to vanish: &lt;c, g&gt;\\*\\*2.\n" in page
    [proved] = ledger([claim], [replace(record, proof=Proof((EVERY_M,), "0", ()))])
    assert findings.unproved(proved) == ""


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        ("[2.5 +/- 0.25]", "Decided in ball arithmetic: an interval"),
        ("[2.5 +/- 1e-20]", "Decided in ball arithmetic, which encloses both sides"),
    ],
)
def test_an_interval_is_spoken_of_where_one_is_shown(actual, said):
    found = Counterexample({"m": 3}, {}, actual, "1", arithmetic="balls")
    record = Record(CLAIMS[0].id, "balls", counterexample=found)
    assert said in findings.counterexample(Entry(CLAIMS[0], (record,), Verdict.REFUTED))


def test_counterexample_is_shown_with_both_sides(site):
    text = (site / "statements" / f"{REFUTED}.html").read_text("utf-8")
    assert "<i>y</i> = (0, 1, 0)" in text
    assert "1/4 + √2/3 &gt; 0" in text


def test_an_erratum_says_what_is_wrong_and_what_is_right(site):
    text = (site / "errata" / "santurkar-2018.html").read_text("utf-8")
    for line in (
        "Kind",
        "What is examined",
        "What is wrong",
        "Counterexample",
        "Right",
        "Shown in",
    ):
        assert text.count(f">{line}<") == 1


def test_what_is_folded_has_its_address(site):
    text = (site / "statements" / f"{PROVED}.html").read_text("utf-8")
    assert 'id="S-thm-4.1/eps-unit"' in text
    assert "<details><summary>" in text


def test_what_was_run_without_anything_to_draw_is_not_said_to_be_not_yet_run():
    claim = BY_ID[WAITING]
    waiting, run = Entry(claim, (), Verdict.NOT_RUN), points_of(claim)
    assert "Actual against claimed: not yet run." in findings.plots(waiting, {})
    assert findings.plots(run, {}) == ""


def test_figures_are_files_with_their_numbers(site):
    figures = site / "figures"
    assert (figures / "S-thm-4.1.actual.svg").exists()
    assert (figures / "S-thm-4.1.training-dense.svg").exists()
    assert (figures / "S-thm-4.1.actual.csv").read_text().startswith("witness,stratum,m,actual")
    for picture in figures.glob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert "<title" in text
        assert "<desc" in text


def points_of(claim, strata=("generic",)):
    sizes = [{"actual": 1.0, "claimed": 2.0, "m": m, "violated": False} for m in (2, 5)]
    found = [{**point, "stratum": stratum} for point in sizes for stratum in strata]
    witness = "trained" if "trained" in strata[0] else "autograd"
    return Entry(claim, (Record(claim.id, witness, instances=9, points=found),), Verdict.SUPPORTED)


@pytest.mark.parametrize(
    ("identifier", "said"),
    [
        ("S-thm-4.1", ["batch size m", "at batch sizes 2, 5;"]),
        ("L-thm-4a", ["batch size N", "at batch sizes 2, 5;"]),
        ("L-q-conv", ["batch size N", "at batch sizes 2, 5;"]),
        ("L-eq-7-8/kept-learning-rate", ["dimension d", "at dimensions 2, 5;"]),
        ("L-lemma-A2/k-1", ["height N", "at heights 2, 5;"]),
        ("L-online", []),
    ],
)
def test_slack_stands_against_what_the_statements_instances_differ_in(identifier, said):
    drawn = figures(points_of(BY_ID[identifier]), None)["slack"]
    assert len(drawn) == bool(said)
    for figure in drawn:
        assert all(words in figure.content for words in said)
        assert said[0].rpartition(" ")[0] in figure.caption


def test_a_training_tells_units_or_layers():
    for identifier, said in ("S-thm-4.1", "of a layer's units"), ("L-thm-4a", "at each layer"):
        [figure] = figures(points_of(BY_ID[identifier], ("dense trained layer 0",)), None)[
            "training"
        ]
        assert said in figure.caption
        assert "at batch sizes 2, 5" in figure.alternative


def test_of_one_example_no_number_of_examples_is_told():
    [figure] = figures(points_of(BY_ID["L-online"], ("dense trained layer 0",)), None)["training"]
    assert "batch size" not in figure.alternative
    told = {
        "L-online": "n = 3",
        "L-online/convolution": "c = 2, r = 3, s = 2, k = 3",
        "L-online/one-weight": "r = 3, s = 2",
    }
    of_layers = {"N": 3, "n": 3, "p": 1}
    of_maps = {"N": 3, "c": 2, "r": 3, "s": 2, "d": 1, "k": 3}
    for identifier, sizes in told.items():
        claim = BY_ID[identifier]
        size = of_layers if claim.subject is Kind.LAYER else of_maps
        proof = Record(claim.id, "symbolic", proof=Proof((size,)))
        assert entry(claim, [proof]).scope == sizes


@pytest.mark.parametrize(
    ("form", "expected", "is_told"),
    [(Form.READING, Verdict.REFUTED, True), (Form.READING, Verdict.PROVED, False)],
)
def test_the_front_page_tells_what_makes_a_formula_a_special_case(form, expected, is_told):
    added = replace(HYPOTHESIS, printed=False)
    both = (replace(HYPOTHESIS, printed=True), added)
    claim = replace(CLAIMS[0], form=form, expected=expected, hypotheses=both)
    page = front_page.page(ledger([claim], []), None)
    told = f"where {formula_or_words(added.statement)} *(added here)*"
    assert (told in page) is is_told


@pytest.mark.parametrize(
    ("identifier", "said"), [("S-thm-4.1/eps", True), ("L-alg-1/renormalization-eps", False)]
)
def test_which_letters_have_an_epsilon_is_told_where_they_have_it(identifier, said):
    group = Group(identifier, tuple(ledger([BY_ID[identifier]], [])))
    page = statement_page.page(group, lambda entry: {})
    assert r"For a layer with $\epsilon > 0$, as every framework has it" in page
    assert (r"$\sigma = \sqrt{v + \epsilon}$" in page) is said


def test_no_path_of_this_machine(site, sources):
    measured = ROOT / "docs" / "measured"
    for path in (*site.rglob("*.html"), *measured.rglob("*.json*")):
        text = path.read_text(encoding="utf-8")
        assert str(sources) not in text
        assert str(Path.home()) + "/" not in text
    places = re.compile(r"(?<!\w)/(?:home|opt|root|usr|tmp)/|/\w+/evidence/")
    found = {path.name: places.findall(path.read_text()) for path in measured.rglob("*.json*")}
    assert {name: seen for name, seen in found.items() if seen} == {}


def test_no_page_is_too_heavy_for_a_telephone(pages):
    assert not [path.name for path in pages if path.stat().st_size > 500_000]


def test_without_evidence_everything_is_not_yet_run(tmp_path):
    write_pages(tmp_path / "nothing", tmp_path / "docs", CLAIMS, tmp_path / "nothing")
    listed = (tmp_path / "docs" / "generated" / "entries.md").read_text(encoding="utf-8")
    assert f"<b>{len(CLAIMS)}</b> not yet run" in listed
    assert not (tmp_path / "docs" / "generated" / "files" / "figures").exists()


def test_no_markup_of_the_evidence_reaches_a_page():
    size = {"m <script>alert(1)</script>\n```{include} /etc/passwd": 2}
    (claim, *_) = CLAIMS
    refuted = Record(claim.id, "exact", counterexample=Counterexample(size, {}, "1", "0"))
    proved = Record(claim.id, "symbolic", proof=Proof((size,)))
    for record, verdict in ((refuted, Verdict.REFUTED), (proved, Verdict.PROVED)):
        said = in_words(Entry(claim, (record,), verdict))
        assert "= 2" in said
        assert not set("<>`\n") & set(said)


@pytest.mark.parametrize(
    ("letters", "said"),
    [({}, " with m = 3"), ({"m": "2"}, " with m = 2"), ({"H": ["1"], "W": ["1"]}, "")],
)
def test_a_heading_has_the_sizes_of_the_counterexample_below(letters, said):
    (claim, *_) = CLAIMS
    found = Counterexample({"m": 3, "k": 1}, {}, "1", "0", letters=letters)
    entry = Entry(claim, (Record(claim.id, "exact", counterexample=found),), Verdict.REFUTED)
    assert in_words(entry) == f"by an exact counterexample{said and said + ', k = 1'}"


def test_what_a_letter_ranges_over_is_told_of_every_entry_and_what_is_long_once():
    (claim, *_) = CLAIMS
    long = f"k > {'+'.join('1' * statement_page.SHORT)}"
    domains = ["k > 0", "k > 1", "k > 1", "k > 0", long, long]
    letters = [number_of("k", "k", "bound", domain) for domain in domains]
    claims = [
        replace(claim, id=f"S-thm-4.1/{i}", says=claim.says.actual <= k * claim.says.claimed)
        for i, k in enumerate(letters)
    ]
    page = page_alone(*claims)
    assert re.findall(r"\$(k > \d)\$", page) == domains[:4]
    assert page.count(long) == 1


def test_folders_of_another_project_are_not_replaced(tmp_path):
    theirs = tmp_path / "docs" / "reference" / "manual.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("years of work")
    with pytest.raises(EvidenceError, match=r"docs is not the site's: it has no conf\.py"):
        write_pages(tmp_path / "nothing", tmp_path / "docs", CLAIMS, tmp_path / "nothing")
    assert theirs.read_text() == "years of work"


def test_sources_that_are_so_already_are_not_touched_and_others_go(tmp_path):
    def write() -> None:
        write_pages(tmp_path / "nothing", tmp_path / "docs", CLAIMS, tmp_path / "nothing")

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").touch()
    write()
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    listed = tmp_path / "docs" / "generated" / "entries.md"
    before = listed.read_bytes()
    listed.write_bytes(before + b" ")
    (tmp_path / "docs" / "statements" / "of-yesterday.md").touch()
    write()
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert after.keys() == written.keys()
    assert [path for path in after if after[path] != written[path]] == [listed]
    assert listed.read_bytes() == before


def test_sources_that_cannot_be_written_are_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError, match=r"file/docs.* cannot be written \(Not a directory\)"):
        write_pages(tmp_path / "nothing", tmp_path / "file" / "docs", CLAIMS, tmp_path / "nothing")


def test_nothing_is_written_outside_of_the_sites_folders(evidence, tmp_path):
    shutil.copytree(evidence, tmp_path / "evidence")
    folder = tmp_path / "evidence" / "experiments" / "dln"
    numbers = (folder / "numbers.json").read_text(encoding="utf-8")
    (folder / "numbers.json").write_text(numbers.replace('"loss"', '"../../../../README"'))
    for kind in ("png", "svg"):
        shutil.copy(folder / f"loss.{kind}", tmp_path.parent / f"README.{kind}")
    with pytest.raises(EvidenceError, match=r"README.*outside of the site's folders"):
        write_pages(tmp_path / "evidence", tmp_path / "docs", CLAIMS, tmp_path / "nothing")
    assert not list(tmp_path.rglob("README*"))


# Experiments


def test_an_experiment_has_its_observations_in_words_with_numbers(site):
    text = (site / "experiments" / "dln.html").read_text("utf-8")
    for word in ("observed", "not observed", "cannot tell"):
        assert f">{word}</span>" in text
    for words in (
        "The deep linear network [small]",
        "Fewer steps than in the paper &lt;so far&gt;.",
        "last_loss &lt; first",
        "2 &lt; 9*",
        "it *never* rises",
        "it costs $5",
        "no shop on &lt;this&gt; machine",
        "a_1 &lt; b*2*.",
        "python -m verify",
        "seeds 0, 1",
        "0.75",
        "1 statement",
    ):
        assert words in text, words
    assert text.count('class="katex"') == 3


def test_statements_along_a_run_have_todays_verdicts_and_are_told_apart():
    seen = {"instances": 8, "violated": 0, "undecided": 1, "vacuous": 2, "worst_ratio": None}
    found = [{**seen, "claim": claim.id} for claim in CLAIMS]
    result = replace(RESULT, pieces={"a": {"theorems": found}}, pictures=())

    def page(records):
        entries = {entry.claim.id: entry for entry in ledger(CLAIMS, records)}
        return experiments_page.page(result, {}, entries)

    shown = page(RECORDS)
    rows = re.findall(r"<tr><td><a [^>]*>(.*?)</a></td><td>(.*?)</td><td>5</td>", shown)
    assert len(dict(rows)) == len(CLAIMS)
    assert {re.sub("<.*?>", "", verdict) for _, verdict in rows} == {
        "proved",
        "refuted",
        "not yet run",
    }
    assert "Of the 1 that the ledger refutes, 0 failed there too." in shown
    waiting = page([])
    assert waiting.count("not yet run") == len(CLAIMS)
    assert "refutes" not in waiting


@pytest.mark.parametrize(
    ("identifier", "said"),
    [
        ("S-thm-4.1", "trained. The ratio"),
        ("L-thm-4c/improves", "trained, their inputs or loss changed where"),
    ],
)
def test_what_is_imposed_along_a_run_is_said(identifier, said):
    seen = {"claim": identifier, "instances": 8, "violated": 0, "undecided": 1, "vacuous": 2}
    result = replace(
        RESULT, pieces={"a": {"theorems": [{**seen, "worst_ratio": None}]}}, pictures=()
    )
    entries = {entry.claim.id: entry for entry in ledger(engine.CLAIMS, [])}
    assert said in experiments_page.page(result, {}, entries)


def test_an_experiment_is_of_a_paper_and_of_statements_not_of_codes():
    entries = {entry.claim.id: entry for entry in ledger(engine.CLAIMS, [])}
    result = replace(RESULT, rows=("L-fig-8", "L-thm-3"), pictures=())
    page = experiments_page.page(result, {}, entries)
    linked = (
        'Lange et al. 2022, <a href="../statements/L-thm-3.html">The preconditioned Hessian</a>'
    )
    assert linked in page
    assert "L-fig-8" not in page


def test_an_experiments_figures_and_numbers_are_files(site):
    files = {path.name for path in (site / "experiments" / "dln").iterdir()}
    assert files == {"numbers.json", "loss.svg", "panels.svg"}
    text = (site / "experiments" / "dln.html").read_text("utf-8")
    assert 'src="dln/loss.svg" width="614" height="422"' in text
    assert 'alt="Loss, 2 seeds, n = 4. Mean &amp; range' in text


def test_the_experiments_are_listed_and_those_not_yet_run_say_how(site):
    text = (site / "experiments" / "index.html").read_text("utf-8")
    assert "1 observed, 1 not observed, 1 cannot tell." in text
    assert 'href="dln.html"' in text
    assert "no data folder" in text


def test_without_experiments_the_index_says_so(tmp_path):
    write_pages(tmp_path / "nothing", tmp_path / "docs", CLAIMS, tmp_path / "nothing")
    assert [p.name for p in (tmp_path / "docs" / "experiments").iterdir()] == ["index.md"]
    text = (tmp_path / "docs" / "experiments" / "index.md").read_text(encoding="utf-8")
    assert "toctree" not in text


@pytest.fixture
def measured(evidence, tmp_path, monkeypatch):
    """Return numbers that came with the source, and let figures of them be drawn elsewhere."""
    monkeypatch.setattr(experiments, "find", lambda name: EXPERIMENT)
    monkeypatch.setattr(drawings, "DRAWN", tmp_path / "drawn")
    monkeypatch.setattr(drawings, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))
    kept = tmp_path / "measured" / "experiments" / "dln"
    kept.mkdir(parents=True)
    shutil.copy(evidence / "experiments" / "dln" / "numbers.json", kept)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").touch()
    return tmp_path / "measured"


def test_numbers_that_came_with_the_source_stand_in_for_a_run(evidence, measured, tmp_path):
    write_pages(tmp_path / "nothing", tmp_path / "docs", CLAIMS, measured)
    pages = tmp_path / "docs" / "experiments"
    for page in ("index.md", "dln.md"):
        said = (pages / page).read_text(encoding="utf-8")
        assert "Its numbers are of an earlier run and came with the source." in said
    drawn = tmp_path / "docs" / "generated" / "files" / "experiments" / "dln"
    assert (drawn / "loss.svg").stat().st_size > 0
    write_pages(evidence, tmp_path / "docs", CLAIMS, measured)
    assert "came with the source" not in (pages / "dln.md").read_text(encoding="utf-8")


def test_a_figure_names_the_run_in_which_its_statement_was_examined():
    first, second = (replace(describe_run("smoke", 0, "numpy", "cpu"), seed=k) for k in (3, 4))
    found = engine.Known(first, RECORDS, (), (), {REFUTED: second})
    entries = {entry.claim.id: entry for entry in ledger(CLAIMS, RECORDS)}
    drawn = drawn_once([*entries.values()], found)
    for name, seed in ((PROVED, 3), (REFUTED, 4)):
        (figure,) = drawn(entries[name])["actual"]
        assert f"Seed {seed}, profile smoke" in figure.caption


def test_pages_whose_source_is_gone_are_removed_where_the_site_was_built(tmp_path):
    pages = [tmp_path / name for name in ("claims/a.html", "claims/b.html", "_static/c.html")]
    for page in pages:
        page.parent.mkdir(exist_ok=True)
        page.touch()
    app = SimpleNamespace(outdir=tmp_path, env=SimpleNamespace(found_docs={"claims/a"}))
    frame._remove_old(app, RuntimeError("not built"))
    assert all(page.exists() for page in pages)
    frame._remove_old(app, None)
    assert [page.exists() for page in pages] == [True, False, True]


def test_figures_of_kept_numbers_are_drawn_once_and_anew_where_code_changed(
    measured, tmp_path, monkeypatch
):
    def write():
        write_pages(tmp_path / "nothing", tmp_path / "docs", CLAIMS, measured)
        return (tmp_path / "docs" / "experiments" / "dln.md").read_text(encoding="utf-8")

    assert "3 of 4 steps" in write()
    (drawn,) = (tmp_path / "drawn").glob("*/loss.svg")
    first = drawn.stat().st_mtime_ns
    rose = [Observation("S-fig, Fig. 9b", "it *never* rises", "no step up", True, "0 of 4 steps")]
    today = replace(EXPERIMENT, observations=lambda measured: rose)
    monkeypatch.setattr(experiments, "find", lambda name: today)
    assert "3 of 4 steps" in write()  # nothing says that the experiment is another
    assert drawn.stat().st_mtime_ns == first
    monkeypatch.setattr(drawings.fingerprint, "of_module", lambda name: "changed")
    said = write()
    assert "0 of 4 steps" in said
    assert "3 of 4 steps" not in said


def test_an_experiment_whose_pictures_are_gone_says_what_to_do(evidence, tmp_path):
    shutil.copytree(evidence, tmp_path / "evidence")
    (tmp_path / "evidence" / "experiments" / "dln" / "loss.svg").unlink()
    with pytest.raises(EvidenceError, match=r"loss\.svg cannot be read .* --evidence .* --redraw"):
        write_pages(tmp_path / "evidence", tmp_path / "docs", CLAIMS, tmp_path / "nothing")


def test_a_result_that_is_damaged_says_what_to_do(tmp_path):
    folder = tmp_path / "experiments" / "dln"
    folder.mkdir(parents=True)
    (folder / "numbers.json").write_text('{"schema": 1')
    with pytest.raises(EvidenceError, match=r"numbers\.json is damaged .* dln --evidence"):
        write_pages(tmp_path, tmp_path / "docs", CLAIMS, tmp_path / "nothing")
