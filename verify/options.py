"""The options that pytest and the command line share, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from verify import engine
from verify.backends import Backend
from verify.description import describe_run
from verify.evidence import Writer
from verify.settings import DEFAULT_EVIDENCE, PROFILES, Settings

SEEDS = 2**63
"""How many seeds every library takes."""


def evidence_of(target: str) -> Path:
    """Return the folder of the evidence on a target's statements, if none is named.

    >>> evidence_of("their.module:CLAIMS").as_posix()
    'evidence/claims/their.module'
    """
    if not target:
        return DEFAULT_EVIDENCE
    place = target.partition(":")[0]
    return DEFAULT_EVIDENCE / "claims" / (Path(place).stem if place.endswith(".py") else place)


@dataclass(frozen=True)
class Options:
    """How hard to look, in which arrays, from which seed, and where the evidence goes."""

    profile: str = "default"
    backend: str = "numpy"
    device: str = ""
    seed: int = 0
    evidence: Path | None = None
    """The folder of the evidence, if not the one that is meant for these statements."""
    cache: Path | None = None
    claims: str = ""
    """Whose statements; the papers' if empty."""
    take_over: tuple[Path, ...] = ()
    """Other folders of evidence, whose records are taken over that this run would find again."""

    @property
    def folder(self) -> Path:
        """Where the evidence goes: that of others' statements into a folder of their own."""
        if self.evidence is not None:
            return self.evidence
        return evidence_of(self.claims)

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
        budget = PROFILES[self.profile]
        return Settings(budget, self.seed, self.backend, self.device, self.cache, self.claims)

    def writer(self, threads: int = 1) -> Writer:
        """Return the writer of this run's evidence, which takes over what need not be found again.

        Args:
            threads: how many each process computes with.

        Raises:
            EvidenceError: the folder cannot be written to, or one to take over from not be read.
        """
        run = describe_run(self.profile, self.seed, self.backend, self.device, threads)
        marks = engine.todays(self.settings(), engine.statements(self.claims))
        return Writer(self.folder, run, marks, self.take_over)
