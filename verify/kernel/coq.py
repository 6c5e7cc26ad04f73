"""Coq as it is installed: where it is, its version, and what is missing."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import theory

LIBRARY = Path(theory.__file__).parent / "coq"
"""The sources of this project's Coq library."""
NAME = "BatchNorm"
"""Its logical name: ``From BatchNorm Require Import Tactics.``"""
PACKAGES = (
    "coq",
    "libcoq-coquelicot",
    "libcoq-mathcomp-algebra",
    "libcoq-mathcomp-algebra-tactics",
)
REQUIRED = {
    "Coquelicot": "libcoq-coquelicot",
    "mathcomp.algebra": "libcoq-mathcomp-algebra",
    "mathcomp.algebra_tactics": "libcoq-mathcomp-algebra-tactics",
}
"""Libraries that the sources need, and the Debian package of each."""
TESTED = "8.16"
LIMITED = 'ulimit -St "$0" && exec "$@"'
"""A command for ``sh`` with a limit of processor time: what else the machine does is no matter.
A soft one, of which the command is told by a signal that nothing else sends."""
QUIET = "-notation-overridden,-ambiguous-paths,-deprecated-syntactic-definition"


class CoqMissingError(RuntimeError):
    """Coq, or a library that the proofs need, is not installed."""


@dataclass(frozen=True)
class Coq:
    """An installation of Coq."""

    compiler: str
    dependencies: str
    version: str

    def compile(self, root: Path, file: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """Compile one file below a root; its output has a line of time for each sentence.

        Raises:
            subprocess.TimeoutExpired: it took more seconds of processor time.
        """
        command = [self.compiler, "-q", "-time", "-w", QUIET, "-Q", ".", NAME, file]
        limited = ["sh", "-c", LIMITED, str(round(seconds)), *command]
        done = subprocess.run(limited, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode == -signal.SIGXCPU:
            raise subprocess.TimeoutExpired(command, seconds)
        return done

    def needs(self, root: Path, files: list[str]) -> dict[str, list[str]]:
        """Return the files below a root that each file needs, by Coq's own reading of them."""
        command = [self.dependencies, "-Q", ".", NAME, *files]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        return parse_dependencies(done.stdout)


def parse_dependencies(text: str) -> dict[str, list[str]]:
    r"""Return what each file needs from what ``coqdep`` prints: a rule of make for each.

    >>> parse_dependencies("a.vo a.glob a.v.beautified a.required_vo: a.v b.vo\n")
    {'a.v': ['b.v']}
    """
    found = {}
    for line in text.splitlines():
        targets, _, sources = line.partition(":")
        if targets.split()[0].endswith(".vo"):
            source, *needed = sources.split()
            found[source] = [f"{n.removesuffix('.vo')}.v" for n in needed if n.endswith(".vo")]
    return found


@cache
def find() -> Coq:
    """Return the installation of Coq.

    Raises:
        CoqMissingError: Coq or a library is not installed; the message says what to install.
    """
    compiler, dependencies = shutil.which("coqc"), shutil.which("coqdep")
    if compiler is None or dependencies is None:
        raise CoqMissingError(advice(["coq"], PACKAGES))
    place = _printed(compiler, "-where").strip()
    contributed = Path(place) / "user-contrib"
    missing = [
        library for library in REQUIRED if not contributed.joinpath(*library.split(".")).is_dir()
    ]
    if missing:
        raise CoqMissingError(advice(missing, tuple(REQUIRED[library] for library in missing)))
    match = re.search(r"version (\S+)", _printed(compiler, "--version"))
    return Coq(compiler, dependencies, match.group(1) if match else "unknown")


def advice(missing: list[str], packages: tuple[str, ...]) -> str:
    """Return what is missing, and Debian's command that installs it."""
    return (
        f"missing: {', '.join(missing)}. The proofs were tested with Coq {TESTED}, Coquelicot and "
        f"mathcomp; on Debian or Ubuntu: apt-get install {' '.join(packages)}. "
        "Elsewhere: opam install coq coq-coquelicot coq-mathcomp-algebra-tactics"
    )


def _printed(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
