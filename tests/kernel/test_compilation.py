"""Two runs that share a folder compile a file once."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from verify.kernel.compilation import Compilation

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


def test_a_file_that_two_runs_want_is_compiled_once(tmp_path):
    coq = SlowCoq()

    def run(_):
        return [found.is_new for found in Compilation(coq, tmp_path, SOURCES).run(1)]

    with ThreadPoolExecutor(2) as pool:
        news = sorted(pool.map(run, range(2)))
    assert coq.asked == 1
    assert news == [[False], [True]]
