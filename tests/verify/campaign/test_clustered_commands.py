"""``--cluster`` of other commands: the same as here, each layer, checkpoint or piece a call."""

import json
import os
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from verify.__main__ import app
from verify.commands import elsewhere
from verify.spread import OtherVersionError, called, spread_calls
from verify.workers import Call, Workers

LAYERS = """
import torch


def right(x, gamma, beta, eps):
    return torch.nn.functional.batch_norm(x, None, None, gamma, beta, True, 0.0, eps)


def wrong(x, gamma, beta, eps):
    return right(x, gamma, beta, 2 * eps)
"""
NETWORK = """
import torch
from torch import nn

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
pair = torch.randn(16, 3), torch.randint(2, (16,))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layers.py").write_text(LAYERS)
    (tmp_path / "networks.py").write_text(NETWORK)
    return tmp_path


@pytest.fixture(scope="module")
def cluster():
    """The option for a scheduler with a worker, both threads of this process."""
    distributed = pytest.importorskip(
        "distributed", reason="Dask is missing: pip install 'batchnorm-theory[cluster]'"
    )
    size = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(**size, dashboard_address=":0") as scheduler:
        yield "--cluster", scheduler.scheduler_address


def counts(row):
    return row["statement"], row["instances"], row["violated"]


def said(*words, status=0):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


@pytest.mark.usefixtures("in_this_process")
def test_several_layers_are_judged_as_each_alone(folder, cluster):
    asked = ("--cases", "plain", "--modes", "forward", "--json")
    both = said("conform", "layers.py:right", "layers.py:wrong", *asked, *cluster, status=1)
    alone = [said("conform", "layers.py:right", *asked)]
    alone += [said("conform", "layers.py:wrong", *asked, status=1)]
    assert [report["cells"] for report in both] == [report["cells"] for report in alone]
    assert [report["verdict"] for report in both] == ["conforms", alone[1]["verdict"]]


@pytest.mark.usefixtures("in_this_process")
def test_several_layers_are_judged_one_after_the_other_without_a_cluster(folder):
    asked = ("--cases", "plain", "--modes", "forward", "--json")
    assert len(said("conform", "layers.py:right", "layers.py:right", *asked)) == 2
    two = CliRunner().invoke(app, ["conform", "a.py:x", "b.py:x", "--reproduce", "token"])
    assert two.exit_code == 2
    assert "--reproduce is of one layer" in two.stderr


@pytest.mark.filterwarnings("default")  # of Dask, which ends its workers
def test_checkpoints_are_audited_as_each_alone(folder, cluster):
    for number in (1, 2):
        torch.manual_seed(number)
        network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
        torch.save(network.state_dict(), f"{number}.pt")
    asked = ("audit", "networks.py:network", "--data", "networks.py:pair", "--entries", "0")
    files = ("--checkpoint", "1.pt", "--checkpoint", "2.pt")
    both = said(*asked, *files, "--json", "--html", "pages", *cluster)
    alone = [said(*asked, "--checkpoint", f"{number}.pt", "--json") for number in (1, 2)]
    for one, other in zip(both, alone, strict=True):
        assert one["losses"] == pytest.approx(other["losses"], rel=1e-6)  # in single precision
        assert list(map(counts, one["statements"])) == list(map(counts, other["statements"]))
    assert both[0]["losses"] != both[1]["losses"]
    assert sorted(path.name for path in (folder / "pages").iterdir()) == ["1-1.html", "2-2.html"]


def test_a_checkpoint_that_cannot_be_audited_leaves_the_others_their_reports(folder):
    torch.save(nn.Sequential(nn.Linear(3, 4)).state_dict(), "other.pt")
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    torch.save(network.state_dict(), "right.pt")
    files = ("--checkpoint", "other.pt", "--checkpoint", "right.pt", "--checkpoint", "none.pt")
    asked = ("audit", "networks.py:network", "--data", "networks.py:pair", "--entries", "0")
    result = CliRunner().invoke(app, [*asked, *files, "--json"])
    assert result.exit_code == 2
    assert len(json.loads(result.stdout)) == 1
    assert "other.pt is not of this model" in result.stderr
    assert "none.pt" in result.stderr


class Here(Executor):
    """Calls at once; the first calls break it, if so wished."""

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


@pytest.mark.parametrize(("breaks", "is_given_up"), [(2, False), (3, True)])
def test_a_call_that_breaks_its_process_is_tried_again_twice(breaks, is_given_up):
    executor = Here(breaks)
    workers = Workers(lambda: executor, lambda: 1)
    ((_, done),) = spread_calls([Call("one", os.path.basename, ("a/b",))], workers)
    assert isinstance(done.exception(), BrokenProcessPool) == is_given_up
    assert is_given_up or done.result() == "b"


def test_another_version_of_the_suite_is_refused():
    with pytest.raises(OtherVersionError, match="install there what is installed here"):
        called("older", os.path.basename, ("a/b",))


def test_a_cluster_that_does_not_answer_ends_with_a_sentence(folder, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is missing")
    monkeypatch.setattr(elsewhere.cluster, "PATIENCE", 1)
    asked = ("conform", "layers.py:right", "--cluster", "tcp://127.0.0.1:9")
    result = CliRunner().invoke(app, [*asked])
    assert result.exit_code == 2
    assert "no scheduler of Dask answers" in result.stderr
