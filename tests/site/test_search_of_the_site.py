"""What the search of a built site knows."""

import subprocess
import sys


def test_names_are_still_known_after_another_page_was_written_again(tmp_path):
    docs, html = tmp_path / "docs", tmp_path / "html"
    docs.mkdir()
    (docs / "conf.py").write_text('extensions = ["myst_parser", "verify.site.search"]\n')
    (docs / "index.md").write_text("# A site\n\n```{toctree}\nnamed\n```\n")
    (docs / "named.md").write_text("```{index} ! Theorem 4.1\n```\n\n# The gradient\n")
    for text in ("", "More.\n"):
        (docs / "index.md").write_text((docs / "index.md").read_text() + text)
        command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", docs, html]
        subprocess.run(command, check=True)
        assert '"theorem 4.1":[[1,"index-0",true]]' in (html / "searchindex.js").read_text()
