"""A campaign finds the same here and on a cluster, whatever dies on the way."""

import multiprocessing
import os
import signal
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import replace
from multiprocessing import forkserver

import pytest
from typer.testing import CliRunner

from verify import cluster, engine, fingerprint, pool
from verify.__main__ import app
from verify.campaign import journal as journals
from verify.campaign import run as running
from verify.campaign.finding import Finding
from verify.campaign.journal import Journal, read
from verify.campaign.run import Failure, Unit, campaign_pairs, run
from verify.commands import campaign as command
from verify.evidence import EvidenceError, Run
from verify.settings import PROFILES, Settings
from verify.spread import OtherVersionError, spread_calls
from verify.subjects.matrix_strata import STRATA
from verify.workers import Call, Workers

distributed = pytest.importorskip(
    "distributed", reason="Dask is missing: pip install 'batchnorm-theory[cluster]'"
)
pytestmark = pytest.mark.filterwarnings("default")  # of Dask, when its processes are killed

SETTINGS = Settings(PROFILES["smoke"])
CLAIMS = [c for c in engine.CLAIMS if c.id in ("S-thm-4.1", "L-thm-4c/sqrt-n")]
PAIRS = campaign_pairs(CLAIMS, ["autograd"])
RUN = Run("smoke", 0, "numpy", "", "abcd", 1, {})
SEEDS = range(3)


class Here(Executor):
    """Calls at once, one after the other; the first calls break it, if so wished."""

    def __init__(self, breaks=0):
        self.left = breaks

    def submit(self, function, /, *args, **named):
        future = Future()
        try:
            if self.left:
                self.left -= 1
                raise BrokenProcessPool
            future.set_result(function(*args, **named))
        except Exception as error:
            future.set_exception(error)
        return future


HERE = Workers(Here, lambda: 1)


def opened(folder):
    return Journal(folder, RUN, engine.todays(SETTINGS))


def without_time(findings):
    return {finding.name: replace(finding, seconds=0.0) for finding in findings}


def examined(folder, workers=HERE, seeds=SEEDS):
    journal = opened(folder)
    ended = list(run(PAIRS, seeds, SETTINGS, journal, workers))
    journal.close()
    assert not [unit for unit in ended if isinstance(unit, Failure)]
    return without_time(journal.known.values())


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    found = examined(tmp_path_factory.mktemp("here"))
    assert all(finding.seeds == ((0, 3),) for finding in found.values())
    assert len(found) == len(PAIRS) == 2
    return found


@pytest.fixture(scope="module")
def local():
    """Two workers, which are copies of a process that has imported what these units need."""
    import dask

    modules = [
        "distributed",
        "torch._dynamo",
        "verify.witnesses.autograd",
        "verify.witnesses.matrices.floats",
    ]
    multiprocessing.set_forkserver_preload(modules)
    forkserver.ensure_running()
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        cluster.workers("local:2") as workers,
    ):
        yield workers


# ---- on a cluster ----


def test_a_worker_that_is_killed_costs_nothing_but_time(local, expected, tmp_path):
    """One is killed as soon as something was found, when most units are still under way."""
    assert local.width() == 2
    nannies = distributed.default_client().cluster.workers
    journal = opened(tmp_path)
    for number, ended in enumerate(run(PAIRS, SEEDS, SETTINGS, journal, local)):
        assert not isinstance(ended, Failure)
        if number == 0:
            os.kill(next(iter(nannies.values())).pid, signal.SIGKILL)
    journal.close()
    assert without_time(journal.known.values()) == expected


@pytest.mark.usefixtures("local")
def test_the_command_ends_with_a_table(tmp_path):
    chosen = ["L-thm-4c/sqrt-n", "--witnesses", "autograd", "--seeds", "0:2"]
    address = distributed.default_client().scheduler.address
    where = ["--cluster", address, "--evidence", str(tmp_path)]
    ended = CliRunner().invoke(app, ["campaign", *chosen, *where])
    assert ended.exit_code == 0, ended.output
    assert "L-thm-4c/sqrt-n" in ended.stdout
    assert f"{2 * 2 * len(STRATA)} instances" in ended.stdout
    assert "dashboard: http://" in ended.stderr


# ---- what fails ----


@pytest.mark.parametrize(("breaks", "is_given_up"), [(2, False), (3, True)])
def test_a_call_that_breaks_its_process_is_tried_again_twice(breaks, is_given_up):
    executor = Here(breaks)
    workers = Workers(lambda: executor, lambda: 1)
    ((_, done),) = spread_calls([Call("one", os.path.basename, ("a/b",))], workers)
    assert isinstance(done.exception(), BrokenProcessPool) == is_given_up
    assert is_given_up or done.result() == "b"


def test_a_worker_of_another_version_is_refused(local, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "this_version", lambda: "another")
    journal = opened(tmp_path)
    for workers in (HERE, local):
        with pytest.raises(OtherVersionError, match="install there what is installed here"):
            list(run(PAIRS, SEEDS, SETTINGS, journal, workers))
    journal.close()
    assert read(tmp_path / journals.FILE)[1] == []


def test_one_more_comment_makes_another_version(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    (tmp_path / "verify").mkdir()
    versions = set()
    for code in ("one = 1\n", "one = 1\n# changed\n"):
        (tmp_path / "verify" / "module.py").write_text(code)
        versions.add(fingerprint.of_everything.__wrapped__())
    assert len(versions) == 2


def test_a_unit_that_fails_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    examine = pool.examine_named

    def failing(witness, claims, settings):
        if settings.seed == 1:
            raise MemoryError("too large")
        return examine(witness, claims, settings)

    monkeypatch.setattr(pool, "examine_named", failing)
    journal = opened(tmp_path)
    failures = [u for u in run(PAIRS, SEEDS, SETTINGS, journal, HERE) if isinstance(u, Failure)]
    assert {(f.unit.seed, str(f.error)) for f in failures} == {(1, "too large")}
    assert all(finding.seeds == ((0, 1), (2, 3)) for finding in journal.known.values())


# ---- what is kept ----


def test_what_is_known_is_not_examined_again(expected, tmp_path, monkeypatch):
    """What is in a journal that was cut off, and in lines that were put together."""
    journal = opened(tmp_path)
    assert list(run(PAIRS, range(1), SETTINGS, journal, HERE))
    journal._held.give_back()  # as when the process dies: nothing is folded
    examined(tmp_path / "other", seeds=range(1, 2))
    with journal.path.open("a") as file:
        file.write((tmp_path / "other" / journals.FILE).read_text())
        file.write('{"kind": "finding", "cla')
    seen, examine = set(), pool.examine_named
    monkeypatch.setattr(pool, "examine_named", lambda *a: (seen.add(a[2].seed), examine(*a))[1])
    assert examined(tmp_path) == expected
    assert seen == {2}


def test_the_folder_stays_small_and_keeps_what_is_not_counted(tmp_path, monkeypatch):
    journal = opened(tmp_path)
    assert list(run(PAIRS, range(1), SETTINGS, journal, HERE))
    (one, *_) = journal.known.values()
    monkeypatch.setattr(journals, "LARGEST", 2**17)
    for seed in range(1, 200):
        tokens = [replace(w, seed=seed, token=f"{w.token}:{seed}") for w in one.worst]
        journal.add([replace(one, seeds=((seed, seed + 1),), worst=tuple(tokens))])
        assert journal.path.stat().st_size < 2**17 + 2**16
    journal.close()
    other = Journal(tmp_path, RUN, lambda claim, witness: "other")
    assert other.known == {}
    other.close()
    assert read(journal.path)[1][0].instances == 200 * one.instances
    assert journal.path.stat().st_size < 2**16
    with pytest.raises(EvidenceError, match="profile smoke; expected deep"):
        Journal(tmp_path, replace(RUN, profile="deep"), engine.todays(SETTINGS))
    newer = journal.path.read_text().replace('"schema": 3', '"schema": 4')
    journal.path.write_text(newer)
    with pytest.raises(EvidenceError, match=r"schema 4, .* a newer version of this suite wrote it"):
        opened(tmp_path)
    assert journal.path.read_text() == newer


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "5"], "expected FIRST:END"),
        (["--cluster", "local:0"], "'local:0' has no worker; expected 'local', or"),
        (["--seeds", "5:5"], "expected FIRST:END"),
        (["S-thm-9"], "no statement is called"),
        (["--witnesses", "oracle"], "no witness is called oracle"),
        (["L-thm-4c", "--witnesses", "monte carlo"], "can say anything"),
    ],
)
def test_bad_input_is_one_line(arguments, said, tmp_path):
    ended = CliRunner().invoke(app, ["campaign", *arguments, "--evidence", str(tmp_path)])
    assert ended.exit_code == 2
    assert said in ended.stderr


def test_what_speaks_against_a_statement_that_is_expected_to_stand_ends_in_failure(
    tmp_path, monkeypatch
):
    def violated(chosen, span, options, journal, workers, console):
        journal.known[chosen[0].name] = Finding(
            *chosen[0].name, ((0, 1),), instances=10, violated=2
        )
        return []

    monkeypatch.setattr(command, "_run", violated)
    monkeypatch.setattr(cluster, "workers", lambda address: nullcontext())
    for name, code in (("S-thm-4.1", 1), ("S-thm-4.1-supp", 0)):
        words = ["campaign", name, "--witnesses", "autograd", "--seeds", "0:1"]
        ended = CliRunner().invoke(app, [*words, "--evidence", str(tmp_path / name)])
        assert ended.exit_code == code, ended.output
        told = "S-thm-4.1, proved as expected: 2 of 10 instances violate it"
        assert (told in ended.stderr) == (code == 1)


def test_what_failed_is_counted_and_named(tmp_path, monkeypatch):
    def failing(chosen, span, settings, journal, workers):
        task = engine.Task(chosen[0].witness, (chosen[0].claim,))
        yield Failure(Unit(task, span[0]), MemoryError("too large"))

    monkeypatch.setattr(command, "run", failing)
    monkeypatch.setattr(cluster, "workers", lambda address: nullcontext(HERE))
    words = ["campaign", "S-thm-4.1", "--witnesses", "autograd", "--seeds", "7:8"]
    ended = CliRunner().invoke(app, [*words, "--evidence", str(tmp_path)])
    assert ended.exit_code == 1
    assert "1 unit failed (1 of MemoryError); the same command tries again" in ended.stderr
    assert "S-thm-4.1 by autograd from the seed 7: too large" in ended.stderr
