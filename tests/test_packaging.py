"""What an installation brings, and what is said where a package is missing."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from verify.__main__ import app
from verify.complaints import EXTRAS, install

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]
LINE = "import sys; sys.modules[{package!r}] = None; {statement}"


def names(requirements):
    """The distributions that requirements name, with those of the extras that they name."""
    found = set()
    for requirement in requirements:
        name, extra = re.match(r"([\w.-]+)(?:\[([\w-]+)\])?", requirement).groups()
        found |= names(OPTIONAL[extra]) if name == PROJECT["name"] else {name.lower()}
    return found


def test_an_installation_brings_what_the_formulas_need():
    assert names(PROJECT["dependencies"]) == {"numpy", "array-api-compat"}


def test_every_version_that_is_pinned_can_be_installed_with_the_oldest_python():
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    wanted = {
        canonicalize_name(found.name): found.metadata.get("Requires-Python", "")
        for found in distributions()
    }
    of_pins = {name: wanted.get(canonicalize_name(name), "") for name in pinned}
    assert any(of_pins.values())
    assert not {name: w for name, w in of_pins.items() if oldest not in SpecifierSet(w)}


def test_the_extra_that_is_advised_brings_the_package():
    distributions = packages_distributions()
    for package, extra in EXTRAS.items():
        known = set(map(canonicalize_name, distributions.get(package, [])))
        brought = set(map(canonicalize_name, names(OPTIONAL[extra])))
        assert not known or known & brought, f"{extra} does not bring {package}"


def test_every_extra_that_a_message_names_exists():
    sources = [*ROOT.glob("theory/**/*.py"), *ROOT.glob("verify/**/*.py"), ROOT / "Makefile"]
    told = {
        extra
        for path in sources
        for listed in re.findall(r"batchnorm-theory\[([\w,-]+)\]", path.read_text())
        for extra in listed.split(",")
    }
    assert told
    assert told <= OPTIONAL.keys() | {"conform-"}, told - OPTIONAL.keys()


@pytest.mark.parametrize(
    ("package", "statement", "extra"),
    [
        ("flint", "import theory.lange2022", "verify"),
        ("sympy", "import theory.arithmetic.abstract", "verify"),
        ("torch", "import theory.nn.bnp", "nn"),
        ("typer", "import runpy; runpy.run_module('verify', run_name='__main__')", "verify"),
        ("flint", "import os, pytest; os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1';"
         "words = ['-p', 'verify.conform.plugin', '--conform', 'torch.nn:BatchNorm1d'];"
         "sys.exit(pytest.main(words))", "conform"),
    ],
)  # fmt: skip
def test_a_missing_package_is_named_with_the_command_that_installs_it(package, statement, extra):
    run = subprocess.run(
        [sys.executable, "-c", LINE.format(package=package, statement=statement)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode != 0
    assert f"{package} is not installed; run: pip install 'batchnorm-theory[{extra}]'" in run.stderr


def test_a_site_without_sphinx_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sphinx", None)
    target = ROOT / "docs" / "guides" / "layer_norm.py"
    found = CliRunner().invoke(app, ["page", "--claims", str(target)])
    assert found.exit_code == 2
    assert "sphinx is not installed; run: pip install 'batchnorm-theory[docs]'" in found.stderr


def test_a_module_of_somebody_else_is_not_advised():
    assert install(ModuleNotFoundError("none", name="their_package")) == ""


def test_the_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "import runpy\n"
        "try:\n    runpy.run_module('verify', run_name='__main__')\n"
        "except SystemExit:\n    pass\n"
        "print(*sorted({'numpy', 'sympy', 'torch', 'flint'} & sys.modules.keys()), file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stderr.strip() == ""
    assert "check" in run.stdout


def test_a_checkout_that_cannot_be_written_to_runs_its_tests(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_one(): pass")
    asked = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml")]
    nowhere = ["-o", "cache_dir=/dev/null/cache", "--rootdir", str(tmp_path), str(tmp_path)]
    found = subprocess.run([*asked, *nowhere], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "1 passed" in found.stdout
    assert "Traceback" not in found.stdout + found.stderr
