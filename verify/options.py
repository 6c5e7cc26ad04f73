"""The options that pytest and the command line share, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from verify import engine, evidence
from verify.backends import Backend
from verify.evidence import Writer
from verify.settings import PROFILES, Settings

DEFAULT_EVIDENCE = Path("evidence")
SEEDS = 2**63
"""How many seeds every library takes."""


@dataclass(frozen=True)
class Options:
    """How hard to look, in which arrays, from which seed, and where the evidence goes."""

    profile: str = "default"
    backend: str = "numpy"
    device: str = ""
    seed: int = 0
    evidence: Path = DEFAULT_EVIDENCE
    cache: Path | None = None

    def settings(self) -> Settings:
        """Return the witnesses' settings.

        Raises:
            ValueError: an unknown profile or backend, or a seed out of range.
            RuntimeError: the backend or its device is not to be had here.
        """
        if self.profile not in PROFILES:
            known = ", ".join(PROFILES)
            raise ValueError(f"unknown profile {self.profile!r}: choose one of {known}")
        if not 0 <= self.seed < SEEDS:
            raise ValueError(f"the seed is {self.seed}; choose one from 0 to {SEEDS - 1}")
        Backend(self.backend, self.device)
        return Settings(PROFILES[self.profile], self.seed, self.backend, self.device, self.cache)

    def writer(self) -> Writer:
        """Return the writer of this run's evidence, which takes over what need not be found again.

        Raises:
            EvidenceError: the folder cannot be written to.
        """
        run = evidence.describe_run(self.profile, self.seed, self.backend, self.device)
        return Writer(self.evidence, run, engine.todays(self.settings()))
