"""``--cluster`` of other commands: the same as here, each layer, checkpoint or piece a call."""

import json
import sys

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from verify.__main__ import app
from verify.commands import elsewhere

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
FORWARD = ("--cases", "plain", "--modes", "forward", "--json")
AUDIT = ("audit", "networks.py:network", "--data", "networks.py:pair", "--entries", "0", "--json")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Layers, a network and two of its checkpoints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layers.py").write_text(LAYERS)
    (tmp_path / "networks.py").write_text(NETWORK)
    for number in (1, 2):
        torch.manual_seed(number)
        network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
        torch.save(network.state_dict(), f"{number}.pt")
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


def said(*words, status=0):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


@pytest.mark.usefixtures("in_this_process", "folder")
def test_several_layers_are_judged_as_each_alone(cluster):
    two = ("layers.py:right", "layers.py:wrong")
    both = said("conform", *two, *FORWARD, *cluster, status=1)
    alone = [said("conform", two[0], *FORWARD), said("conform", two[1], *FORWARD, status=1)]
    assert [report["cells"] for report in both] == [report["cells"] for report in alone]
    assert [report["verdict"] for report in both] == [report["verdict"] for report in alone]
    assert both[0]["verdict"] == "conforms"
    assert len(said("conform", two[0], two[0], *FORWARD)) == 2  # one after the other
    refused = CliRunner().invoke(app, ["conform", *two, "--reproduce", "token"])
    assert refused.exit_code == 2
    assert "--reproduce is of one layer" in refused.stderr


@pytest.mark.filterwarnings("default")  # of Dask, which ends its workers
def test_checkpoints_are_audited_as_each_alone(folder, cluster):
    files = ("--checkpoint", "1.pt", "--checkpoint", "2.pt")
    both = said(*AUDIT, *files, "--html", "pages", *cluster)
    for number, one in enumerate(both, 1):
        other = said(*AUDIT, "--checkpoint", f"{number}.pt")
        assert one["losses"] == pytest.approx(other["losses"], rel=1e-6)  # in single precision
        for row, alone in zip(one["statements"], other["statements"], strict=True):
            assert all(row[name] == alone[name] for name in ("statement", "instances", "violated"))
    assert both[0]["losses"] != both[1]["losses"]
    assert sorted(path.name for path in (folder / "pages").iterdir()) == ["1-1.html", "2-2.html"]


@pytest.mark.usefixtures("folder")
def test_a_checkpoint_that_cannot_be_audited_leaves_the_others_their_reports():
    torch.save(nn.Sequential(nn.Linear(3, 4)).state_dict(), "other.pt")
    files = ("--checkpoint", "other.pt", "--checkpoint", "1.pt", "--checkpoint", "none.pt")
    result = CliRunner().invoke(app, [*AUDIT, *files])
    assert result.exit_code == 2
    assert len(json.loads(result.stdout)) == 1
    assert "other.pt is not of this model" in result.stderr
    assert "none.pt" in result.stderr


@pytest.mark.usefixtures("folder", "cluster")
def test_a_cluster_that_cannot_be_had_ends_with_a_sentence(monkeypatch):
    monkeypatch.setattr(elsewhere.cluster, "PATIENCE", 1)
    asked = ("conform", "layers.py:right", "--cluster", "tcp://127.0.0.1:9")
    result = CliRunner().invoke(app, [*asked])
    assert result.exit_code == 2
    assert "no scheduler of Dask answers at 'tcp://127.0.0.1:9'" in result.stderr
    assert "expected 'local' or an address" in result.stderr
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = CliRunner().invoke(app, [*asked])
    assert result.exit_code == 2
    assert "pip install 'batchnorm-theory[cluster]'" in result.stderr
