"""Two runs that share a folder compile a file once; a run says of the library as it found it."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from verify.kernel.compilation import Compilation, forget_limits
from verify.kernel.proving import checks
from verify.kernel.theorems import digest_with_needed, sources

SOURCES = {"a.v": "Lemma a : True. Proof. exact I. Qed.\n"}


class SlowCoq:
    """Stands in for Coq: it takes a while, and counts how often it was asked."""

    version = "none"

    def __init__(self):
        self.asked = 0

    def needs(self, root, files):
        return {file: [] for file in files}

    def compile(self, root, file, limit):
        self.asked += 1
        time.sleep(0.3)
        (root / file).with_suffix(".vo").touch()
        return subprocess.CompletedProcess([], 0, "", "")


class Accepting(SlowCoq):
    """Finds nothing wrong, and says so as Coq does."""

    def compile(self, root, file, limit):
        (root / file).with_suffix(".vo").touch()
        return subprocess.CompletedProcess([], 0, "Closed under the global context\n", "")


def test_a_file_that_two_runs_want_is_compiled_once(tmp_path):
    slow = SlowCoq()

    def run(_):
        return [found.is_new for found in Compilation(slow, tmp_path, SOURCES).run(1)]

    with ThreadPoolExecutor(2) as pool:
        news = sorted(pool.map(run, range(2)))
    assert slow.asked == 1
    assert news == [[False], [True]]


class TooSlow(SlowCoq):
    """Never ends in time."""

    def compile(self, root, file, limit):
        self.asked += 1
        raise subprocess.TimeoutExpired("coqc", limit)


def test_a_file_that_took_too_long_is_tried_again_once_that_is_forgotten(tmp_path):
    slow = TooSlow()
    for asked in (1, 1):
        [found] = Compilation(slow, tmp_path, SOURCES).run(1)
        assert not found.succeeded
        assert slow.asked == asked
    forget_limits(tmp_path, ["a.v", "none.v"])
    list(Compilation(slow, tmp_path, SOURCES).run(1))
    assert slow.asked == 2


def test_a_file_that_is_edited_while_others_compile_was_not_checked(tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "b.v").write_text(SOURCES["a.v"])
    importing = "From BatchNorm Require Import b.\nTheorem c : True.\nProof. exact I. Qed.\n"
    (library / "c.v").write_text(importing)
    before = sources(library)

    def edit(_):
        (library / "b.v").write_text("Lemma b : False. Proof. Qed.\n")

    [check] = checks(Accepting(), tmp_path / "builds", before, {}, 1, edit)
    assert check.needs == digest_with_needed(importing, before)
    assert check.needs != digest_with_needed(importing, sources(library))
