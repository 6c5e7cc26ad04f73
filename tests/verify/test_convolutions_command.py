"""Large convolutions: what is kept of them, and the command."""

import io
import json
from dataclasses import replace

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from theory import convolution
from verify.commands.convolutions import convolutions
from verify.convolutions import checks, examination, report, run
from verify.convolutions.findings import FILE, Keeper, read
from verify.evidence import EvidenceError
from verify.options import Options
from verify.subjects import convolutions as cases
from verify.subjects.convolutions import SMALL

TWO = [SMALL[1], SMALL[3]]
OPTIONS = Options("smoke")
RUN = run.describe(OPTIONS)


@pytest.fixture(autouse=True)
def _two_layers(monkeypatch):
    monkeypatch.setitem(cases.SHAPES, "smoke", TWO)


def kept_in(folder):
    """What a run finds and keeps in a folder."""
    return list(run.examine_all(OPTIONS, RUN, Keeper(folder, RUN)))


def call(*arguments):
    app = typer.Typer()
    app.command()(convolutions)
    words = ["--profile", "smoke", *map(str, arguments)]
    return CliRunner().invoke(app, words, catch_exceptions=False)


def test_a_killed_run_is_resumed_and_findings_come_back_from_their_file(tmp_path, monkeypatch):
    examine, examined = examination.examine, []

    def killed_at_the_second(shape, *rest):
        examined.append(shape)
        if len(examined) == 2:
            raise KeyboardInterrupt
        return examine(shape, *rest)

    monkeypatch.setattr(examination, "examine", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        kept_in(tmp_path)
    with (tmp_path / FILE).open("a") as file:
        file.write('{"shape": {"netw')  # killed while it wrote
    made = kept_in(tmp_path)
    assert examined == [TWO[0], TWO[1], TWO[1]]
    assert read(tmp_path) == made
    assert [finding.shape for finding in made] == TWO
    assert made[0].seconds > 0
    for line in (tmp_path / FILE).read_text().splitlines():
        assert json.loads(line)["run"]["gpu"].startswith("not run")


def test_another_run_is_not_resumed_and_the_later_of_a_kind_counts(tmp_path):
    (finding, _) = kept_in(tmp_path)
    later = replace(RUN, commit="of another file", started="later")
    assert Keeper(tmp_path, later).done.keys() == set(TWO)
    another = replace(RUN, source="another")
    assert Keeper(tmp_path, another).done == {}
    Keeper(tmp_path, another).add(replace(finding, run=another))
    assert [found.run.source for found in read(tmp_path)] == ["another", RUN.source]
    torch_too = run.describe(Options("smoke", "torch"))
    Keeper(tmp_path, torch_too).add(replace(finding, run=torch_too))
    assert len(read(tmp_path)) == 3


def test_damage_is_named(tmp_path):
    assert read(tmp_path) == []
    (tmp_path / FILE).write_text('{"shape"\n{}\n')
    with pytest.raises(EvidenceError, match=r"convolutions\.jsonl, line 1 is damaged"):
        read(tmp_path)
    wrong = {'{"shape": 1}': "Expected `object`, got `int`.*shape", "{}": "missing .*`shape`"}
    for line, what in wrong.items():
        (tmp_path / FILE).write_text(f"{line}\n{{}}\n")
        form = rf"line 1 is of another form \(.*{what}.*\); delete the line"
        with pytest.raises(EvidenceError, match=form):
            read(tmp_path)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    with pytest.raises(EvidenceError, match=r"cannot be read \(Is a directory\); name another"):
        read(tmp_path)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_number_is_cut_off_in_a_narrow_terminal(width, tmp_path):
    found = kept_in(tmp_path)
    console = Console(file=io.StringIO(), width=width)
    report.show(found, console)
    printed = console.file.getvalue()
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= width
    for name in report.NUMBERS.values():
        assert f"{found[0].numbers[name]:.3g}" in printed


# The command


def test_the_command_prints_a_table_and_keeps_its_evidence_where_it_is_told_to(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    result = call()
    assert result.exit_code == 0
    for column in ("layer", *report.CHECKS, *report.NUMBERS):
        assert column in result.stdout
    assert "small projection" in result.stdout
    assert "2 layers, 28 checks, 0 not as expected" in result.stdout
    assert "GPU: not run: the backend was numpy" in result.stdout
    assert list(tmp_path.iterdir()) == []
    assert call("--evidence", tmp_path).exit_code == 0
    assert len(read(tmp_path)) == 2


def test_a_wrong_formula_makes_the_command_fail(monkeypatch):
    right = convolution.apply_transposed

    def without_bias(*arguments, **options):
        weights, bias = right(*arguments, **options)
        return weights, 0 * bias

    monkeypatch.setattr(convolution, "apply_transposed", without_bias)
    result = call()
    assert result.exit_code == 1
    assert f"small stage: L-prop-9, {checks.PER_SAMPLE}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--device", "abacus"), "abacus"),
        (("--profile", "quick"), "choose one of smoke"),
        (("--evidence", __file__), "name another folder"),
    ],
)
def test_what_is_not_to_be_had_is_refused(arguments, said):
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
