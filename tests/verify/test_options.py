"""What was asked for is checked before anything runs."""

import pytest

from verify import backends
from verify.options import SEEDS, Options
from verify.settings import PROFILES, Settings


def test_the_defaults_are_those_of_make_verify():
    assert Options().settings() == Settings(PROFILES["default"], 0, "numpy", "", None)


def test_profiles_look_harder_and_harder():
    smoke, default, deep = (Options(profile=name).settings().budget for name in PROFILES)
    for field in ("random", "differences", "examples", "restarts", "steps"):
        assert getattr(smoke, field) <= getattr(default, field) <= getattr(deep, field)
    assert set(smoke.sizes) <= set(default.sizes) <= set(deep.sizes)
    assert set(smoke.stages) <= set(default.stages) <= set(deep.stages)


@pytest.fixture
def _without_cupy(monkeypatch):
    found = backends.find_spec
    monkeypatch.setattr(backends, "find_spec", lambda name: found(name) if name != "cupy" else None)
    backends.devices.cache_clear()
    yield
    backends.devices.cache_clear()


@pytest.mark.usefixtures("_without_cupy")
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"profile": "thorough"}, "'thorough': choose one of smoke, default, deep"),
        ({"seed": -1}, f"the seed is -1; choose one from 0 to {SEEDS - 1}"),
        ({"seed": SEEDS}, f"the seed is {SEEDS}; choose"),
        ({"backend": "jax"}, "no backend 'jax'; choose one of numpy, torch, cupy"),
        ({"backend": "cupy"}, "cupy is not installed; run: pip install cupy-cuda12x"),
        ({"device": "abacus"}, "abacus"),
    ],
)
def test_what_is_not_to_be_had_is_refused(option, message):
    with pytest.raises((ValueError, RuntimeError), match=message):
        Options(**option).settings()


def test_the_writer_keeps_what_was_asked_for(tmp_path):
    options = Options("smoke", "torch", "cpu", SEEDS - 1, tmp_path / "new" / "folder")
    run = options.writer().run
    assert (run.profile, run.backend, run.device, run.seed) == ("smoke", "torch", "cpu", SEEDS - 1)
    assert options.evidence.is_dir()
