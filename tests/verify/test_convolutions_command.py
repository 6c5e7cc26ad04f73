"""Large convolutions: what is kept of a run, how it is resumed, and the command."""

import json
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from theory import convolution
from verify import backends
from verify.cases import convolutions as cases
from verify.cases.convolutions import SMALL
from verify.convolutions import findings, hessian, report, run
from verify.convolutions.command import convolutions
from verify.convolutions.findings import FILE, Keeper, read
from verify.evidence import EvidenceError
from verify.options import Options

TWO = [SMALL[1], SMALL[3]]


@pytest.fixture
def _two_layers(monkeypatch):
    monkeypatch.setitem(cases.SHAPES, "smoke", TWO)


@pytest.fixture
def call():
    app = typer.Typer()
    app.command()(convolutions)
    return lambda *arguments: CliRunner().invoke(
        app, ["--profile", "smoke", *map(str, arguments)], catch_exceptions=False
    )


@pytest.mark.usefixtures("_two_layers")
def test_findings_come_back_from_their_file(tmp_path):
    options = Options("smoke")
    described = run.describe(options)
    made = list(run.examine_all(options, described, Keeper(tmp_path, described)))
    assert read(tmp_path) == made
    assert [finding.shape for finding in made] == TWO
    assert made[0].seconds > 0
    for line in (tmp_path / FILE).read_text().splitlines():
        assert json.loads(line)["run"]["gpu"].startswith("not run")


@pytest.mark.usefixtures("_two_layers")
def test_a_killed_run_is_resumed(tmp_path, monkeypatch):
    options, examine = Options("smoke"), run.examine
    described = run.describe(options)
    examined = []

    def killed_at_the_second(shape, *rest):
        if examined:
            raise KeyboardInterrupt
        examined.append(shape)
        return examine(shape, *rest)

    monkeypatch.setattr(run, "examine", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        list(run.examine_all(options, described, Keeper(tmp_path, described)))
    with (tmp_path / FILE).open("a") as file:
        file.write('{"shape": {"netw')  # killed while it wrote
    monkeypatch.setattr(run, "examine", lambda shape, *rest: again(shape, *rest))

    def again(shape, *rest):
        examined.append(shape)
        return examine(shape, *rest)

    made = list(run.examine_all(options, described, Keeper(tmp_path, described)))
    assert examined == TWO
    assert read(tmp_path) == made


@pytest.mark.usefixtures("_two_layers")
def test_another_run_is_not_resumed_and_the_later_of_a_kind_counts(tmp_path):
    options = Options("smoke")
    described = run.describe(options)
    earlier = replace(described, source="another")
    list(run.examine_all(options, described, Keeper(tmp_path, earlier)))
    lines = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(lines.replace(described.source, "another"))
    assert Keeper(tmp_path, described).done == {}
    list(run.examine_all(options, described, Keeper(tmp_path, described)))
    assert {finding.run.source for finding in read(tmp_path)} == {described.source}
    torch_too = run.describe(Options("smoke", "torch"))
    Keeper(tmp_path, torch_too).add(replace(read(tmp_path)[0], run=torch_too))
    assert len(read(tmp_path)) == 3


def test_damage_is_named(tmp_path):
    assert read(tmp_path) == []
    (tmp_path / FILE).write_text('{"shape"\n{}\n')
    with pytest.raises(EvidenceError, match=r"convolutions\.jsonl, line 1 is damaged"):
        read(tmp_path)
    (tmp_path / FILE).write_text('{"shape": 1}\n{}\n')
    with pytest.raises(EvidenceError, match=r"another form .*; delete it"):
        read(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError, match="name another folder"):
        Keeper(tmp_path / "file", run.describe(Options("smoke")))


# The command


@pytest.mark.usefixtures("_two_layers")
def test_the_command_prints_a_table_and_keeps_its_evidence(call, tmp_path):
    result = call("--evidence", tmp_path)
    assert result.exit_code == 0
    for column in ("layer", *report.CHECKS, *report.NUMBERS):
        assert column in result.stdout
    assert "small projection" in result.stdout
    assert "2 layers, 28 checks, 0 not as expected" in result.stdout
    assert "GPU: not run: the backend was numpy" in result.stdout
    assert len(findings.read(tmp_path)) == 2


@pytest.mark.usefixtures("_two_layers")
def test_the_command_keeps_nothing_unless_it_is_told_to(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call().exit_code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_two_layers")
def test_a_wrong_formula_makes_the_command_fail(call, monkeypatch):
    right = convolution.apply_transposed

    def without_bias(*arguments, **options):
        weights, bias = right(*arguments, **options)
        return weights, 0 * bias

    monkeypatch.setattr(convolution, "apply_transposed", without_bias)
    result = call()
    assert result.exit_code == 1
    assert f"small stage: L-prop-9, {hessian.PER_SAMPLE}" in result.stdout


def test_a_missing_cupy_is_named(call, monkeypatch):
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    backends.devices.cache_clear()
    result = call("--backend", "cupy")
    backends.devices.cache_clear()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "pip install cupy-cuda12x" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--backend", "jax"), "choose one of"),
        (("--device", "abacus"), "abacus"),
        (("--seed", "-1"), "choose one from 0"),
        (("--profile", "quick"), "choose one of smoke"),
    ],
)
def test_bad_options_are_refused(call, arguments, word):
    result = call(*arguments)
    assert result.exit_code == 2
    assert word in result.stderr


def test_a_folder_that_cannot_be_written_is_refused(call, tmp_path):
    (tmp_path / "file").touch()
    result = call("--evidence", tmp_path / "file")
    assert result.exit_code == 2
    assert "name another folder" in result.stderr
