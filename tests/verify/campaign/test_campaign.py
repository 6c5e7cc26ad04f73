"""A campaign finds the same on processes and on a cluster, whatever dies on the way."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future
from dataclasses import asdict, replace
from multiprocessing import forkserver
from pathlib import Path

import pytest
from typer.testing import CliRunner

from verify import cluster, engine, pool
from verify.__main__ import app
from verify.campaign import journal as journals
from verify.campaign.journal import Journal, read
from verify.campaign.run import Failure, campaign_pairs, run
from verify.cluster import ClusterError
from verify.evidence import EvidenceError, Run
from verify.settings import PROFILES, Settings
from verify.spread import OtherVersionError
from verify.workers import Workers

distributed = pytest.importorskip(
    "distributed", reason="Dask is missing: pip install 'batchnorm-theory[cluster]'"
)
pytestmark = pytest.mark.filterwarnings("default")  # of Dask, when its processes are killed

SETTINGS = Settings(PROFILES["smoke"])
CLAIMS = [c for c in engine.CLAIMS if c.id in ("S-thm-4.1", "L-thm-4c/sqrt-n")]
PAIRS = campaign_pairs(CLAIMS, ["autograd"])
RUN = Run("smoke", 0, "numpy", "", "abcd", 1, {})
SEEDS = range(4)


class Here(Executor):
    """Examines where it is called, one call after the other."""

    def submit(self, function, /, *args, **named):
        future = Future()
        try:
            future.set_result(function(*args, **named))
        except Exception as error:
            future.set_exception(error)
        return future


HERE = Workers(Here, lambda: 1)


def opened(folder):
    return Journal(folder, RUN, engine.todays(SETTINGS))


def without_time(findings):
    return {name: replace(finding, seconds=0.0) for name, finding in findings.items()}


def examined(folder, workers, seeds=SEEDS):
    journal = opened(folder)
    ended = list(run(PAIRS, seeds, SETTINGS, journal, workers))
    journal.close()
    assert not [unit for unit in ended if isinstance(unit, Failure)]
    return without_time(journal.known)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return examined(tmp_path_factory.mktemp("here"), HERE)


@pytest.fixture(scope="module")
def local():
    """Two workers, which are copies of a process that has imported everything."""
    import dask

    multiprocessing.set_forkserver_preload(["distributed", *pool.imported()])
    forkserver.ensure_running()
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        cluster.workers("local:2") as workers,
    ):
        yield workers


def test_a_cluster_finds_what_one_process_finds(local, expected, tmp_path):
    assert local.width() == 2
    assert examined(tmp_path, local) == expected
    assert all(finding.seeds == ((0, 4),) for finding in expected.values())
    assert len(expected) == len(PAIRS) == 2


def test_the_engine_takes_a_cluster_for_its_processes(local):
    with pool.examining(PAIRS, SETTINGS, executor=local.executor) as futures:
        found = {name: future.result() for name, future in futures.items()}
    alone = {record.name: record for record in engine.examine(PAIRS, SETTINGS)}
    assert {n: asdict(replace(r, seconds=0.0)) for n, r in found.items()} == {
        n: asdict(replace(r, seconds=0.0)) for n, r in alone.items()
    }


def test_a_worker_that_is_killed_costs_nothing_but_time(local, expected, tmp_path):
    """One is killed as soon as something was found, when most units are still under way."""
    nannies = distributed.default_client().cluster.workers
    journal = opened(tmp_path)
    for number, ended in enumerate(run(PAIRS, SEEDS, SETTINGS, journal, local)):
        assert not isinstance(ended, Failure)
        if number == 0:
            os.kill(next(iter(nannies.values())).pid, signal.SIGKILL)
    journal.close()
    assert without_time(journal.known) == expected


def test_a_worker_of_another_version_is_refused(tmp_path):
    """A worker whose copy of the suite has one more comment."""
    root = Path(engine.__file__).parent.parent
    for package in ("theory", "verify"):
        shutil.copytree(root / package, tmp_path / package)
    with (tmp_path / "verify" / "primitives.py").open("a") as file:
        file.write("# changed\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as scheduler:
        address = scheduler.scheduler_address
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
        with (
            subprocess.Popen([*command, "--no-nanny"], env=environment, cwd=tmp_path) as worker,
            cluster.workers(address) as workers,
        ):
            try:
                with pytest.raises(OtherVersionError, match="install there what is installed"):
                    examined(tmp_path / "evidence", workers)
            finally:
                worker.terminate()
    assert read(tmp_path / "evidence" / journals.FILE)[1] == []


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with (
        pytest.raises(ClusterError, match=r"tcp://127.0.0.1:9.*expected 'local' or an address"),
        cluster.workers("tcp://127.0.0.1:9"),
    ):
        pass


def test_without_dask_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match="batchnorm-theory"), cluster.workers("local"):
        pass


def test_what_is_known_is_not_examined_again(expected, tmp_path, monkeypatch):
    examined(tmp_path, HERE, range(2))
    seen = []
    examine = pool.examine_named
    monkeypatch.setattr(pool, "examine_named", lambda *a: (seen.append(a[2].seed), examine(*a))[1])
    assert examined(tmp_path, HERE) == expected
    assert sorted(set(seen)) == [2, 3]


def test_a_journal_that_was_cut_off_keeps_what_it_has(expected, tmp_path):
    journal = opened(tmp_path)
    for _ in zip(range(3), run(PAIRS, SEEDS, SETTINGS, journal, HERE), strict=False):
        pass
    journal._held.give_back()  # as when the process dies: nothing is folded
    with journal.path.open("a") as file:
        file.write('{"kind": "finding", "cla')
    assert examined(tmp_path, HERE) == expected


def test_lines_of_two_folders_are_one_campaign(expected, tmp_path):
    for name, seeds in (("one", range(2)), ("other", range(2, 4))):
        examined(tmp_path / name, HERE, seeds)
    both = "".join(
        (tmp_path / name / journals.FILE).read_text() for name in ("one", "other", "one")
    )
    (tmp_path / journals.FILE).write_text(both)
    found = read(tmp_path / journals.FILE)[1]
    assert without_time({finding.name: finding for finding in found}) == expected


def test_the_folder_stays_small_whatever_is_found(tmp_path, monkeypatch):
    journal = opened(tmp_path)
    for _ in run(PAIRS, range(1), SETTINGS, journal, HERE):
        pass
    (one, *_) = journal.known.values()
    monkeypatch.setattr(journals, "LARGEST", 2**20)
    for seed in range(1, 2000):
        tokens = [replace(w, seed=seed, token=f"{w.token}:{seed}") for w in one.worst]
        journal.add([replace(one, seeds=((seed, seed + 1),), worst=tuple(tokens))])
        assert journal.path.stat().st_size < 2**20 + 2**16
    journal.close()
    (found, *_) = [f for f in read(journal.path)[1] if f.name == one.name]
    assert found.instances == 2000 * one.instances
    assert journal.path.stat().st_size < 2**16


def test_what_other_code_found_stays_and_is_not_counted(expected, tmp_path):
    examined(tmp_path, HERE)
    other = Journal(tmp_path, RUN, lambda claim, witness: "other")
    assert other.known == {}
    other.close()
    assert without_time(opened(tmp_path).known) == expected


def test_a_unit_that_fails_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    examine = pool.examine_named

    def failing(witness, claims, settings):
        if settings.seed == 2:
            raise MemoryError("too large")
        return examine(witness, claims, settings)

    monkeypatch.setattr(pool, "examine_named", failing)
    journal = opened(tmp_path)
    failures = [u for u in run(PAIRS, SEEDS, SETTINGS, journal, HERE) if isinstance(u, Failure)]
    assert {(f.unit.seed, str(f.error)) for f in failures} == {(2, "too large")}
    assert all(finding.seeds == ((0, 2), (3, 4)) for finding in journal.known.values())


def test_another_profile_needs_another_folder(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(EvidenceError, match="profile smoke; expected deep"):
        Journal(tmp_path, replace(RUN, profile="deep"), engine.todays(SETTINGS))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "5"], "expected FIRST:END"),
        (["--seeds", "5:5"], "expected FIRST:END"),
        (["--claims", "S-thm-9"], "no statement is called"),
        (["--witnesses", "oracle"], "no witness is called oracle"),
        (["--claims", "L-thm-4c", "--witnesses", "monte carlo"], "can say anything"),
    ],
)
def test_bad_input_is_one_line(arguments, said, tmp_path):
    ended = CliRunner().invoke(app, ["campaign", *arguments, "--evidence", str(tmp_path)])
    assert ended.exit_code == 2
    assert said in ended.stderr


@pytest.mark.usefixtures("local")
def test_the_command_ends_with_a_table(tmp_path):
    chosen = ["--claims", "L-thm-4c/sqrt-n", "--witnesses", "autograd", "--seeds", "0:2"]
    address = distributed.default_client().scheduler.address
    where = ["--cluster", address, "--evidence", str(tmp_path)]
    ended = CliRunner().invoke(app, ["campaign", *chosen, *where])
    assert ended.exit_code == 0, ended.output
    assert "L-thm-4c/sqrt-n" in ended.stdout
    assert "28 instances" in ended.stdout
    assert "dashboard: http://" in ended.stderr
