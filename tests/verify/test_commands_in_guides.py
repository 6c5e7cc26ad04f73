"""What the README, the changelog and the guides tell to type is what the commands take."""

import re
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from verify.__main__ import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "theory" / "coq" / "README.md"]
PAGES += sorted((ROOT / "docs" / "guides").glob("*.md"))
PYTEST = "".join(
    (ROOT / "verify" / file).read_text() for file in ("conftest.py", "conform/plugin.py")
)
COMMANDS = [c.name for c in app.registered_commands if c.name != "pytest"]


@cache
def help_of(command):
    """What a command prints of itself."""
    run = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "160", "TERM": "dumb"})
    assert run.exit_code == 0, f"there is no command {command!r}"
    return run.stdout


def has(text, option):
    """Whether a text has an option, and not only one that begins so."""
    return re.search(rf"(?<![\w-]){option}(?![\w-])", text) is not None


def typed(page):
    """The lines of a page that call a command, continued ones joined, without remarks."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    calls = re.findall(r"(?:python -m verify|pytest)\s[^`\n#]*", text)
    return [" ".join(call.split()) for call in calls]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_that_a_page_shows_exist(page):
    for call in typed(page):
        options = re.findall(r"(?<!\S)--[a-z][a-z-]*", call)
        called, *_ = call.removeprefix("python -m verify ").partition(" ")
        if call.startswith("pytest ") or called == "pytest":
            missing = [o for o in options if not has(PYTEST, o)]
        elif re.fullmatch("[a-z]+", called):
            missing = [o for o in options if not has(help_of(called), o)]
        else:
            continue
        assert not missing, f"{call}: no {', '.join(missing)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_an_option_that_is_named_alone_is_one_of_a_command(page):
    spans = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    named = {option for span in spans for option in re.findall(r"(?<!\S)--[a-z][a-z-]+", span)}
    taken = PYTEST + "".join(map(help_of, COMMANDS))
    assert not {option for option in named if not has(taken, option)}


def test_the_commands_that_are_said_to_take_statements_of_others_do():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"batchnorm_theory\.claims`;\s([^.]*?)\s+take them by `--claims`", text)
    names = re.findall(r"`(\w+)`", listed)
    assert len(names) > 5
    for name in names:
        assert has(PYTEST if name == "pytest" else help_of(name), "--claims"), name
