"""What all tests share: a folder, a browser a process, and what is collected of their files."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import settings

# Tests make copies of their process, which OpenMP's threads do not outlive.
os.environ["OMP_NUM_THREADS"] = "1"
# What is printed is as wide as in a file, whoever looks.
os.environ.pop("COLUMNS", None)
# What one asks of pytest is of these tests, not of those that they start.
os.environ.pop("PYTEST_ADDOPTS", None)
# How long an example takes says what else the machine does.
settings.register_profile("any time", deadline=None)
settings.load_profile("any time")


def pytest_configure() -> None:
    """Look for garbage rarely: most of what is made is in use."""
    gc.set_threshold(50_000, 20, 100)


def pytest_collection_finish() -> None:
    """Look for none among what was imported and collected."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Look for none in what ends with the process."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no doctests below tests: there are none, and each module would be read twice."""
    found = yield
    return [each for each in found if type(each) is pytest.Module]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this run of the tests, whichever of its processes asks."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def made_once(shared: Path) -> Callable[[str, Callable[[Path], None]], Path]:
    """Return what names a folder in there, which the first process to ask for it fills."""

    def made(name: str, fill: Callable[[Path], None]) -> Path:
        done = shared / f"{name}.done"
        with FileLock(shared / f"{name}.lock"):
            if not done.exists():
                fill(shared / name)
                done.touch()
        return shared / name

    return made


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Examine a layer here, not in a process of its own, which takes seconds to import PyTorch."""
    from verify.conform import examine, run
    from verify.conform.adapters import AdapterError
    from verify.conform.process import Order, StartError, facts, opened
    from verify.targets import TargetError

    @contextmanager
    def process(order: Order, limit: float) -> Iterator[examine.Here]:
        try:
            found, adapter = opened(order)
        except (TargetError, AdapterError) as error:
            raise StartError(str(error)) from None
        bench = examine.Here(found, adapter)
        bench.facts = facts(found, adapter)
        yield bench

    monkeypatch.setattr(run, "Process", process)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def find_browser() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start Chromium with the flags that keep it off the network."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=path,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
        )
        yield browser
        browser.close()
