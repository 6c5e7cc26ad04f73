"""What was asked for is checked before anything runs."""

import pytest

from verify import backends
from verify.evidence import EvidenceError
from verify.options import SEEDS, Options
from verify.settings import PROFILES, Settings


def test_the_defaults_are_those_of_make_verify():
    assert Options().settings() == Settings(PROFILES["default"], 0, "numpy", "", None)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_is_a_budget(profile):
    assert Options(profile=profile).settings().budget is PROFILES[profile]


def test_profiles_look_harder_and_harder():
    smoke, default, deep = PROFILES.values()
    for field in ("random", "differences", "examples", "restarts", "steps"):
        assert getattr(smoke, field) <= getattr(default, field) <= getattr(deep, field)
    assert set(smoke.sizes) <= set(default.sizes) <= set(deep.sizes)
    assert set(smoke.stages) <= set(default.stages) <= set(deep.stages)


def test_an_unknown_profile_is_refused():
    with pytest.raises(ValueError, match="'thorough': choose one of smoke, default, deep"):
        Options(profile="thorough").settings()


@pytest.mark.parametrize("seed", [-1, SEEDS])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match=rf"the seed is {seed}; choose one from 0 to {SEEDS - 1}"):
        Options(seed=seed).settings()


@pytest.mark.parametrize("seed", [0, SEEDS - 1])
def test_a_seed_in_range_is_taken(seed):
    assert Options(seed=seed).settings().seed == seed


def test_an_unknown_backend_is_refused():
    with pytest.raises(ValueError, match="no backend 'jax'; choose one of numpy, torch, cupy"):
        Options(backend="jax").settings()


def test_an_unknown_device_is_refused():
    with pytest.raises(RuntimeError, match="abacus"):
        Options(device="abacus").settings()


@pytest.fixture
def _without_cupy(monkeypatch):
    found = backends.find_spec
    monkeypatch.setattr(backends, "find_spec", lambda name: found(name) if name != "cupy" else None)
    backends.devices.cache_clear()
    yield
    backends.devices.cache_clear()


@pytest.mark.usefixtures("_without_cupy")
def test_a_backend_that_is_not_installed_says_how_to_install_it():
    with pytest.raises(RuntimeError, match="cupy is not installed; run: pip install cupy-cuda12x"):
        Options(backend="cupy").settings()


def test_the_writer_keeps_what_was_asked_for(tmp_path):
    options = Options("smoke", "torch", "cpu", 7, tmp_path / "new" / "folder")
    run = options.writer().run
    assert (run.profile, run.backend, run.device, run.seed) == ("smoke", "torch", "cpu", 7)
    assert options.evidence.is_dir()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError, match="name another folder"):
        Options(evidence=tmp_path / "file").writer()
