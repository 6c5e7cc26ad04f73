"""How Sphinx builds a site of statements: this repository's, and a small one of others'."""

import gc
from importlib.metadata import version as installed
from pathlib import Path

ASSETS = Path(__file__).resolve().parent / "assets"

author = "the authors of batchnorm-theory"
release = version = installed("batchnorm-theory")

# A page is a tree of objects that stay until it is written; to look through all of them again and
# again takes a tenth of a build, and frees next to nothing.
gc.set_threshold(*gc.get_threshold()[:2], 10**9)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "verify.site.accessibility",
    "verify.site.docstrings",
    "verify.site.frame",
    "verify.site.head",
    "verify.site.mathematics",
    "verify.site.search",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "generated"]
myst_enable_extensions = ["attrs_inline", "deflist", "dollarmath", "smartquotes"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

autodoc_typehints = "signature"
autodoc_use_type_comments = False  # to look for them takes time, and there are none
autodoc_member_order = "bysource"
napoleon_google_docstring = True

html_show_copyright = False
html_search_scorer = str(ASSETS / "search.js")
html_theme = "furo"
templates_path = [str(ASSETS / "templates")]
html_math_renderer = "katex"
html_favicon = str(ASSETS / "static" / "icon.svg")
html_static_path = [str(ASSETS / "static")]
html_extra_path = ["generated/files"]
html_css_files = ["katex/katex.min.css", "site.css"]
html_js_files = [
    ("katex/katex.min.js", {"defer": "defer"}),
    ("mathematics.js", {"defer": "defer"}),
    ("katex/copy-tex.min.js", {"defer": "defer"}),
    ("ledger.js", {"defer": "defer"}),
]
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}
