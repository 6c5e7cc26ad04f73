"""A bench in a process of its own, so that a layer that hangs or dies takes nothing with it."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from verify.conform.adapters import AdapterError, find
from verify.conform.arguments import AS_THEY_ARE
from verify.conform.cases import Case
from verify.conform.examine import Here, Outcome
from verify.conform.installed import is_installed, path_to
from verify.conform.journal import digest
from verify.conform.subject import Subject, bare, framework_of, subject
from verify.conform.words import ENDED, GIVEN_UP, HUNG
from verify.targets import TargetError, load

START = 120.0
"""Seconds in which a framework must have been imported, or as many as a mode may take."""


@dataclass(frozen=True)
class Order:
    """What a process is to examine."""

    target: str
    adapter: str = ""
    """Empty: guessed from what the target's module imports."""
    device: str = ""
    family: str = "batch"
    groups: int = 1
    is_affine: bool = True
    is_compiled: bool = False


@dataclass(frozen=True)
class Facts:
    """What a process found out about its subject."""

    name: str
    framework: str
    version: str
    dtypes: tuple[str, ...]
    layouts: tuple[str, ...]
    """Ways to store arrays."""
    axes: tuple[str, ...]
    """The axes that it says it takes; none: to be found by trying."""
    fixed_eps: float | None
    like: str | None
    is_affine: bool
    has_shift: bool
    may_lack_gamma: bool
    eps_is_single: bool
    groups: int
    has_running: bool
    own: tuple[str, ...]
    """The modes of derivatives that it brings itself."""
    script: str
    """The line of a script that makes ``layer``."""
    imports: str
    """The line that makes ``array`` and ``numpy``."""
    code: Mapping[str, str]
    """For each mode the lines that make ``found``."""
    stored: Mapping[str, str]
    """For each layout the function that a script stores an array so by."""
    loaded: str = ""
    """A digest of the source that a process of its own has loaded: the layer's, the author's."""


class StartError(Exception):
    """A subject that cannot be run at all, and what to do."""


PATIENCE = 2
"""A mode that ended the process so often is not asked for again."""
AGAIN = f"{GIVEN_UP}, since it hung or ended its process twice before"


class Process:
    """A bench in another process; close it after use.

    Args:
        order: what to examine.
        limit: seconds that one mode at one case may take.

    Raises:
        StartError: the target or its framework cannot be loaded.
    """

    def __init__(self, order: Order, limit: float = 20.0):
        self._order, self._limit = order, limit
        self._endings: Counter[str] = Counter()
        self._start()

    def _start(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-c", "from verify.conform.process import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # an interrupt at the terminal is for this process
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._there = Connection(os.dup(self._child.stdin.fileno()), readable=False)
        self._back = Connection(os.dup(self._child.stdout.fileno()), writable=False)
        self._child.stdin.close()
        self._child.stdout.close()
        try:
            self._send(self._order)
            self.facts: Facts = self._receive(max(START, self._limit))
        except StartError:
            self.close()
            raise

    def close(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.wait()
        self._there.close()
        self._back.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def outcomes(self, case: Case, modes: Iterable[str]) -> Iterator[Outcome]:
        """Return an iterator over what comes of each mode; the process begins at once."""
        listed = list(modes)
        asked = [mode for mode in listed if self._endings[mode] < PATIENCE]
        self._send((case, asked))
        return chain(
            (Outcome(mode, reason=AGAIN) for mode in listed if mode not in asked),
            self._replies(case, asked),
        )

    def _replies(self, case: Case, modes: list[str]) -> Iterator[Outcome]:
        for position, mode in enumerate(modes):
            try:
                yield self._receive(self._limit)
            except StartError as error:
                self._endings[mode] += 1
                # Before anybody looks away: a late reply must not answer the next question.
                self.close()
                self._start()
                yield Outcome(mode, reason=str(error))
                yield from self.outcomes(case, modes[position + 1 :])
                return

    def _send(self, message: Any) -> None:
        try:
            self._there.send(message)
        except BrokenPipeError:
            raise StartError(self._ended()) from None

    def _receive(self, limit: float) -> Any:
        if not self._back.poll(limit):
            raise StartError(f"{HUNG} {limit:g} s; --limit allows more")
        try:
            message = self._back.recv()
        except (EOFError, ConnectionResetError):
            raise StartError(self._ended()) from None
        if isinstance(message, StartError):
            raise message
        return message

    def _ended(self) -> str:
        status = self._child.wait()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"{ENDED} with {how} in the middle; run it alone to see why"


def serve() -> None:
    """Answer orders on the standard streams; what the subject prints goes to the error stream."""
    warnings.simplefilter("ignore")
    orders = Connection(os.dup(0), writable=False)
    replies = Connection(os.dup(1), readable=False)
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        found, adapter = opened(orders.recv())
    except (TargetError, AdapterError) as error:
        replies.send(StartError(str(error)))
        return
    replies.send(replace(facts(found, adapter), loaded=_of_loaded(found)))
    bench = Here(found, adapter)
    while True:
        try:
            case, modes = orders.recv()
        except EOFError:
            return
        for outcome in bench.outcomes(case, modes):
            replies.send(outcome)


def opened(order: Order) -> tuple[Subject, Any]:
    """Return an order's subject and adapter.

    Raises:
        TargetError: the target names nothing that can be examined.
        AdapterError: its framework is not there.
    """
    target = load(order.target)
    adapter = find(order.adapter or framework_of(target), order.device)
    found = subject(target, order.target, adapter, order.family, order.groups)
    compile_ = getattr(adapter, "compile", None)
    if order.is_compiled and compile_ is None:
        raise AdapterError(f"{adapter.name} does not compile; leave --compile out")
    layer = compile_(found.layer) if order.is_compiled and compile_ else found.layer
    groups = found.groups if found.groups > 1 else order.groups
    is_affine = found.is_affine and order.is_affine
    return replace(found, layer=layer, groups=groups, is_affine=is_affine), adapter


def facts(found: Subject, adapter: Any) -> Facts:
    """Return what the judge has to know of a subject."""
    own = {"own gradient": found.backward, "own jvp": found.jvp}
    return Facts(
        name=found.name,
        framework=adapter.name,
        version=str(adapter.version),  # PyTorch's is of a class whose pickle imports PyTorch
        dtypes=tuple(adapter.dtypes),
        layouts=tuple(getattr(adapter, "layouts", dict)()),
        axes=found.layouts,
        fixed_eps=found.fixed_eps,
        like=found.like,
        is_affine=found.is_affine,
        has_shift=found.has_shift,
        may_lack_gamma=found.may_lack_gamma,
        eps_is_single=found.eps_is_single,
        groups=found.groups,
        has_running=found.train is not None,
        own=tuple(mode for mode, given in own.items() if given is not None),
        script=found.script or _import_of(found.name) + _called(found.call),
        imports=getattr(adapter, "imports", ""),
        code=getattr(adapter, "code", {}),
        stored=getattr(adapter, "stored", {}),
    )


def _import_of(target: str) -> str:
    place, _, name = target.partition(":")
    name = name or "forward"
    module = Path(place).stem if place.endswith(".py") else place
    return f"{path_to(module)}from {module} import {name} as layer"


def _called(call: str) -> str:
    """Return what makes a layer of x, gamma, beta and eps of one with other arguments."""
    if call == AS_THEY_ARE.call:
        return ""
    return f"; given = layer; layer = lambda x, gamma, beta, eps: given({call})"


def _of_loaded(found: Subject) -> str:
    """Return a digest of the layer's file, and of all others that are loaded but not installed.

    It knows what the layer imports of its author's; of what is installed the framework's version
    stands for all but the layer itself.
    """
    names = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = {Path(name) for name in names if name and not is_installed(name)}
    return digest(file for file in files | _written_in(found) if file.is_file())


def _written_in(found: Subject) -> set[Path]:
    """Return the file that the layer is written in, as far as there is one."""
    try:
        path = inspect.getsourcefile(inspect.unwrap(bare(found.source or found.layer)))
    except TypeError:
        return set()
    return {Path(path)} if path else set()
