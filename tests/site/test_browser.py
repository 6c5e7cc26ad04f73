"""The site in a real browser, served from this machine and cut off from every other."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

import pytest
import torch
from site_cases import PROVED, SHOWN

from theory.nn.networks.resnet import resnet18
from verify.audit import audit

WIDTHS = (390, 1440)
LISTENED_TO = (
    "index.html",
    "entries.html",
    "errata/santurkar-2018.html",
    "statements/S-thm-4.1.html",
    "experiments/dln.html",
    "guides/methods.html",
    "reference/index.html",
)
"""One page of each template, whose accessibility is examined, which takes a second or two."""
OTHERS = (
    "errata.html",
    "statements/L-overparam.html",
    "statements/S-thm-4.1-supp.html",
    "statements/paper-S.html",
    "experiments/index.html",
    "guides/verdicts.html",
    "guides/notation.html",
    "guides/conform.html",
    "guides/your-claim.html",
    "guides/gpu.html",
)


class Host(SimpleHTTPRequestHandler):
    """A host that shows the page for addresses that lead nowhere, as GitHub Pages does."""

    def log_message(self, *arguments):
        pass

    def send_error(self, code, *about):
        page = Path(self.directory, "project", "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)


@pytest.fixture(scope="module")
def address(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("host")
    (folder / "project").symlink_to(site)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/project"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def window(browser, address):
    """The one page of these tests, since each takes a window, and what is to complain of in it."""
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda r: is_given_up(r) or complaints.append(f"failed: {r.url}"))
    page.on("request", lambda r: r.url.startswith((address, "data:")) or complaints.append(r.url))
    yield page, complaints
    page.wait_for_load_state("networkidle")
    page.close()
    assert not complaints


def is_given_up(request) -> bool:
    """Whether the browser left the page before an answer came."""
    return request.failure == "net::ERR_ABORTED"


@pytest.fixture
def visit(window, address):
    """Open a page; complain afterwards of console errors and requests to elsewhere."""
    page, complaints = window

    def open_page(path: str, width: int = 1440, scheme: str = "light"):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{address}/{path}")
        return page

    yield open_page
    found, complaints[:] = complaints[:], []
    assert not found


def shown(page) -> int:
    return page.locator("#ledger tbody tr:visible").count()


@pytest.fixture(scope="session")
def axe() -> str:
    package = pytest.importorskip(
        "axe_playwright_python", reason="axe-playwright-python, which brings axe-core, is missing"
    )
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def test_an_option_is_on_one_line(visit):
    page = visit("guides/conform.html", WIDTHS[0])
    lines = page.evaluate(
        "[...document.querySelectorAll('article .pre')].filter(word => !word.closest('td'))"
        ".map(word => [word.textContent, word.getClientRects().length])"
    )
    assert {"--modes", "--no-affine"} <= {word for word, _ in lines}
    assert {count for _, count in lines} == {1}


def fits(page, width: int) -> bool:
    """Whether a page scrolls downwards only, and all that scrolls by itself is within."""
    page.set_viewport_size({"width": width, "height": 900})
    return page.evaluate(f"Math.max(document.documentElement.scrollWidth, {RIGHTMOST})") <= width


@pytest.mark.parametrize("path", OTHERS)
def test_page_fits_and_stays_at_home(visit, path):
    page = visit(path, WIDTHS[1])
    assert all(fits(page, width) for width in WIDTHS)


@pytest.mark.parametrize("path", LISTENED_TO)
def test_page_fits_stays_at_home_and_has_no_serious_accessibility_fault(visit, axe, path):
    page = visit(path, WIDTHS[1])
    assert all(fits(page, width) for width in WIDTHS[::-1])  # where it is narrow most scrolls
    page.add_script_tag(content=axe)
    assert not serious_faults(page)
    page.emulate_media(color_scheme="dark")
    assert not faults_of_contrast(page)


def test_a_formula_that_is_wider_than_the_page_scrolls_by_itself(visit):
    page = visit("statements/L-overparam.html", WIDTHS[0])
    for kind in ("div", "span"):
        wide = page.locator(f"{kind}.formula").evaluate_all(
            "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => [e.tabIndex, "
            "getComputedStyle(e).overflowX, getComputedStyle(e).backgroundAttachment])"
        )
        assert wide
        assert {tuple(one) for one in wide} == {(0, "auto", "local, local, scroll, scroll")}


def test_a_formula_that_ends_in_an_index_does_not_scroll(visit):
    page = visit(f"statements/{PROVED}.html")
    excess = page.evaluate(
        """() => {
            const formula = document.createElement("span");
            formula.className = "formula";
            document.querySelector("article").append(formula);
            katex.render("[x]_{x=y}", formula);
            return formula.scrollWidth - formula.clientWidth;
        }"""
    )
    assert excess == 0


def test_a_search_finds_statements_before_the_code_that_is_called_after_them(visit):
    page = visit("search.html?q=theorem")
    found = page.locator("#search-results li a")
    page.wait_for_function("document.querySelector('#search-results p')?.textContent.match(/\\d/)")
    found.last.wait_for()
    folders = ["reference" in link.get_attribute("href") for link in found.all()]
    assert {True, False} == set(folders)
    assert folders == sorted(folders)


@pytest.mark.parametrize("query", ["theorem 4.1", "Theorem 4.1", "4.1"])
def test_a_search_by_its_number_finds_a_theorem_first(visit, query):
    page = visit(f"search.html?q={query}")
    found = page.locator("#search-results li a")
    page.wait_for_function("document.querySelector('#search-results p')?.textContent.match(/\\d/)")
    first, second = (found.nth(i).get_attribute("href") for i in (0, 1))
    assert {"statements/S-thm-4.1.html", "statements/S-thm-4.1-supp.html"} == {
        link.partition("?")[0].partition("#")[0] for link in (first, second)
    }


@pytest.mark.parametrize("wrong", ["none", "statements/S-thm-9.html", "a/b%22/c/"])
def test_a_wrong_address_leads_back_from_any_depth(window, address, wrong):
    page, complaints = window
    assert page.goto(f"{address}/{wrong}").status == 404
    assert page.title().startswith("No page is at this address")
    assert "Libertinus" in page.evaluate(
        "getComputedStyle(document.querySelector('article')).fontFamily"
    )
    skip = page.locator("a[href*='#']").first
    assert skip.evaluate("link => link.href").startswith(f"{address}/{wrong}#")
    page.locator("article a", has_text="the ledger").click()
    page.wait_for_url(f"{address}/index.html")
    assert {" 404 " in said for said in complaints} == {True}
    complaints.clear()


def test_an_excerpt_of_a_page_has_each_formula_once_as_its_source(visit):
    text = visit("search.html?q=theorem").evaluate(
        f"fetch('statements/{PROVED}.html').then(page => page.text()).then(Search.htmlToText)"
    )
    assert r"\frac{\gamma^{2}}{\sigma^{2}}" in text
    assert "γ" not in text


RIGHTMOST = """Math.max(...[
    ...document.querySelectorAll('article :is(p, dd, h1, h2, h3, figure):not(table *)')
].map(e => e.getBoundingClientRect().right))"""


def faults_of_contrast(page):
    return serious_faults(page, "runOnly: ['color-contrast']")


# KaTeX's own markup has the colours of the text around it, and more nodes than all else.
WATCHED = "{exclude: ['.katex']}"


def serious_faults(page, options: str = ""):
    options = f"{{resultTypes: ['violations'], {options}}}"
    found = page.evaluate(f"axe.run({WATCHED}, {options}).then(result => result.violations)")
    return [
        (fault["id"], [node["html"][:120] for node in fault["nodes"][:3]])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


def test_an_accessibility_fault_of_one_colour_scheme_is_seen(visit, axe):
    page = visit(LISTENED_TO[-1])
    page.add_script_tag(content=axe)
    page.add_style_tag(content="@media (prefers-color-scheme: dark) {p {color: #222 !important}}")
    assert not faults_of_contrast(page)
    page.emulate_media(color_scheme="dark")
    assert [name for name, _ in faults_of_contrast(page)] == ["color-contrast"]


@pytest.mark.parametrize("width", WIDTHS)
def test_ledger_filters_and_searches(visit, width):
    page = visit("entries.html", width)
    assert shown(page) == len(SHOWN)
    page.select_option("select[name=verdict]", "proved")
    assert shown(page) == 2
    page.fill("input[name=text]", "ε > 0")
    assert shown(page) == 1
    assert "verdict=proved" in page.url
    page.click("button[type=reset]")
    page.wait_for_function("!location.search")
    assert shown(page) == len(SHOWN)
    page.click(".count.refuted")
    assert shown(page) == 1


def test_ledger_remembers_the_choice_in_its_address(visit):
    assert shown(visit("entries.html?verdict=refuted")) == 1


def test_ledger_sorts(visit):
    page = visit("entries.html")
    page.click("#ledger thead button:has-text('instances')")
    page.click("#ledger thead button:has-text('instances')")
    first = page.locator("#ledger tbody tr").first
    assert first.locator("th a").get_attribute("title") == PROVED


def test_ledger_leads_to_the_statement(visit):
    page = visit("entries.html")
    page.click(f"#ledger a[title='{PROVED}/eps']")
    page.wait_for_url("**#S-thm-4.1/eps")


@pytest.mark.parametrize(("width", "scheme"), [(WIDTHS[0], "light"), (WIDTHS[1], "dark")])
def test_statement_shows_mathematics_and_plots(visit, width, scheme):
    page = visit(f"statements/{PROVED}.html", width, scheme)
    images = page.locator("figure img")
    assert images.count() == 3
    for index in range(images.count()):
        images.nth(index).scroll_into_view_if_needed()
        images.nth(index).evaluate("image => image.decode()")
        assert images.nth(index).evaluate("image => image.naturalWidth") > 0
    formulas = page.locator(".formula .katex-html")
    assert formulas.count() > 0
    assert formulas.first.evaluate("node => node.getBoundingClientRect().width") > 100
    fonts = page.evaluate(
        "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
    )
    assert "KaTeX_Math" in fonts


def test_mathematics_is_copied_as_latex(visit):
    page = visit(f"statements/{PROVED}.html")
    page.evaluate(
        "getSelection().selectAllChildren(document.querySelector('.formula'));"
        "window.copied = null;"
        "document.addEventListener('copy', e => "
        "{ window.copied = e.clipboardData.getData('text/plain'); });"
        "document.execCommand('copy')"
    )
    assert r"\frac{\gamma^{2}}{\sigma^{2}}" in page.evaluate("window.copied")


BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 20, 22)"}


def test_the_page_of_an_audit_fits_its_window_and_asks_for_nothing(browser, tmp_path):
    network = resnet18((3, 32, 32), 10, width=4, normalization="batch")
    images, labels = torch.randn(16, 3, 32, 32), torch.randint(10, (16,))
    report = audit(network, images, labels, torch.nn.functional.cross_entropy, entries=0)
    page = browser.new_page(offline=True)
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda r: r.url.startswith("file:") or complaints.append(r.url))
    page.goto(report.save(tmp_path / "audit.html").as_uri())
    for width, (scheme, expected) in product((390, 1280), BACKGROUNDS.items()):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == expected
    page.close()
    assert complaints == []
