"""Files compiled in the order of what they need, several at once, and only what has changed.

The sources are copied to a folder of builds and compiled there.  A file may end with a question for
what theorems rest on (:func:`question`).  What was found of a file is kept next to it with a
fingerprint of its text, of the fingerprints of what it needs and of Coq's version: a file whose
fingerprint is the same is not compiled again, whether Coq accepted it, refused it or took too long.
Runs that share a folder wait for each other, file by file.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

from filelock import FileLock

from verify import json_lines
from verify.kernel.coq import Coq
from verify.kernel.evidence import ALLOWED, Check, Outcome
from verify.kernel.meaning import ASSUMING, DEFINING, KNOWN, Sentence, sentences
from verify.kernel.theorems import Theorem, theorems, without_comments

SENTENCE = re.compile(
    r"^Chars (\d+) - \d+ \[.*\] [\d.]+ secs \(([\d.]+)u,([\d.]+)s\)", re.MULTILINE
)
"""Where a sentence begins, and its processor time for the program and for the system."""
ERROR = re.compile(r'File "[^"]+", line (\d+), characters .*?:\n(.*)', re.DOTALL)
REPORT = re.compile(r"^(Closed under the global context|Axioms:)$", re.MULTILINE)
ASSUMPTION = re.compile(r"([\w.']+)\s*(?::|$)")
UNPROVED = re.compile(
    r"\b(Admitted|[Aa]dmit|Abort|Axioms?|Parameters?|Conjectures?|Fail|Load|Module|Declare\s(?!Scope\b)"
    r"|bypass_check|type_in_type|Unset\s+\w+\s+Checking)\b"
)
"""What leaves something unproved, or makes text mean what it does not say here."""
QUESTION = "Print Assumptions stated_here."
LIBRARIES = frozenset(axiom.path.split(".")[-2] for axiom in ALLOWED.values())
"""Where the axioms are, by which Coq names them: no file of ours may be taken for one of these."""
LIMIT = 45.0
"""Seconds of processor time for one file."""


@dataclass(frozen=True)
class Found:
    """What became of one file."""

    file: str
    fingerprint: str
    seconds: float
    checks: tuple[Check, ...]
    error: str = ""
    line: int = 0
    """Where Coq refused it; 0 if it did not say so."""
    is_new: bool = True
    """Whether it was compiled now, and not known from an earlier run."""

    @property
    def succeeded(self) -> bool:
        """Whether Coq accepted the file."""
        return not self.error


@dataclass(frozen=True)
class Compilation:
    """Sources to compile: a text for each file name, below a folder of builds."""

    coq: Coq
    root: Path
    sources: Mapping[str, str]
    limit: float = LIMIT

    def run(self, workers: int) -> Iterator[Found]:
        """Compile all files and yield what became of each, in the order in which they end."""
        for file, text in self.sources.items():
            refuse_axioms(file, text)
            _write_if_changed(self.root / file, text)
        needs = self.coq.needs(self.root, sorted(self.sources))
        sorter = TopologicalSorter(needs)
        sorter.prepare()
        fingerprints: dict[str, str] = {}
        failed: set[str] = set()
        with ThreadPoolExecutor(workers) as pool:
            running: dict[Future[Found], str] = {}
            while sorter.is_active():
                for file in sorter.get_ready():
                    fingerprints[file] = self._fingerprint(file, needs[file], fingerprints)
                    bad = next((n for n in needs[file] if n in failed), None)
                    work = (self._skip, file, bad) if bad else (self._compile, file)
                    call, *arguments = work
                    future = pool.submit(call, fingerprints[file], *arguments)  # type: ignore[arg-type]
                    running[future] = file
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    file, found = running.pop(future), future.result()
                    if not found.succeeded:
                        failed.add(file)
                    sorter.done(file)
                    yield found

    def _fingerprint(self, file: str, needed: list[str], known: Mapping[str, str]) -> str:
        parts = [self.coq.version, self.sources[file], *(known[n] for n in needed)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _compile(self, fingerprint: str, file: str) -> Found:
        record = (self.root / file).with_suffix(".json")
        with FileLock(record.with_suffix(".lock")):
            known = _read(record)
            if known and known.fingerprint == fingerprint and self._stands(known):
                return known
            found = self._checked(fingerprint, file)
            json_lines.write(record, [asdict(found)])
        return found

    def _stands(self, known: Found) -> bool:
        """Whether a file that is as it was would end as it did.

        One whose process was killed need not, and one that took too long may take longer now.
        """
        if known.succeeded:
            return (self.root / known.file).with_suffix(".vo").exists()
        return known.line > 0 or known.seconds >= self.limit

    def _checked(self, fingerprint: str, file: str) -> Found:
        stated = list(theorems(self.sources[file]))
        try:
            done = self.coq.compile(self.root, file, self.limit)
        except subprocess.TimeoutExpired:
            error = f"Coq took more than {self.limit:g} seconds"
            return Found(file, fingerprint, self.limit, self._checks(file, stated, error), error)
        times = [
            (int(at), float(user) + float(system))
            for at, user, system in SENTENCE.findall(done.stdout)
        ]
        seconds = sum(took for _, took in times)
        if done.returncode:
            line, error = _complaint(done)
            checks = self._checks(file, stated, error, line)
            return Found(file, fingerprint, seconds, checks, error, line)
        is_asked = QUESTION in self.sources[file]
        rests_on = assumptions(done.stdout) if is_asked else ()
        checks = tuple(
            _judged(replace(check, assumptions=rests_on, seconds=time))
            for check, time in zip(self._checks(file, stated), _shares(stated, times), strict=True)
        )
        return Found(file, fingerprint, seconds, checks)

    def _checks(
        self, file: str, stated: list[Theorem], error: str = "", line: int = 0
    ) -> tuple[Check, ...]:
        """Return what is known of a file's theorems: where it failed, and what was before it."""
        checks = []
        for place, theorem in enumerate(stated):
            end = stated[place + 1].line if place + 1 < len(stated) else float("inf")
            if not error:
                outcome, message = Outcome.CHECKED, ""
            elif theorem.line <= line < end:
                outcome, message = Outcome.FAILED, error
            else:
                outcome, message = Outcome.NOT_REACHED, f"its file failed at {error}"
            checks.append(
                Check(
                    theorem.name, file, theorem.statement, theorem.hash, outcome,
                    coq=self.coq.version, message=message,
                )
            )  # fmt: skip
        return tuple(checks)

    def _skip(self, fingerprint: str, file: str, needed: str) -> Found:
        error = f"{needed}, which it needs, failed"
        stated = list(theorems(self.sources[file]))
        return Found(file, fingerprint, 0.0, self._checks(file, stated, error), error)


class UnprovedError(ValueError):
    """A source assumes what it should prove, or a theorem says less than its text."""


def refuse_axioms(file: str, source: str) -> None:
    """Refuse a source that makes something true without a proof, or a theorem mean less.

    A theorem in a section may have hypotheses that do not stand in it; what a section assumes is
    an axiom outside of one.  A sentence that begins with a word that is not known could do either
    unseen, as ``Time`` does before another, and so could one that gives an axiom's name to
    something else.

    Raises:
        UnprovedError: it does.
    """

    def refuse(start: int, why: str) -> None:
        line = source.count("\n", 0, start) + 1
        raise UnprovedError(f"{file}, line {line}: {why}")

    if Path(file).stem in LIBRARIES:
        refuse(0, "a library of Coq that has an axiom is called so")
    word = UNPROVED.search(without_comments(source))
    if word:
        refuse(word.start(), f"{word.group().strip()!r} leaves something unproved")
    for sentence in sentences(source):
        if why := _why_refused(sentence):
            refuse(sentence.start, why)


def _why_refused(sentence: Sentence) -> str:
    """Return why a sentence would make a theorem mean less; nothing where it would not."""
    word, is_assuming = sentence.keyword, sentence.keyword in ASSUMING
    if not word[0].islower() and word not in KNOWN:
        return f"{word!r} is no word that a sentence may begin with"
    if word == "Theorem" and sentence.sections:
        return "a theorem stands outside of sections, with all its hypotheses"
    if (is_assuming or word == "Let") and not sentence.sections:
        return f"{word!r} outside of a section is an axiom"
    if word == "Defined":
        return "a lemma that is a definition; write 'Definition'"
    if is_assuming or word in DEFINING:
        named = sentence.text if is_assuming else sentence.text.partition(":")[0]
        for axiom in sorted(ALLOWED.keys() & re.findall(r"\w+", named)):
            return f"{axiom!r} is the name of an axiom of Coq's library"
    return ""


def question(names: Iterable[str]) -> str:
    """Return Coq's question for what theorems rest on, taken together.

    >>> print(question(["a", "b"]).strip())
    Definition stated_here : True := let _ := @a in let _ := @b in I.
    Print Assumptions stated_here.
    """
    every = "".join(f"let _ := @{name} in " for name in names)
    return f"\nDefinition stated_here : True := {every}I.\n{QUESTION}\n"


def assumptions(output: str) -> tuple[str, ...]:
    r"""Return the assumptions that Coq printed: those of its library without their modules.

    >>> assumptions("Axioms:\nClassical_Prop.classic : forall P : Prop,\n  P \\/ ~ P\n")
    ('classic',)
    >>> assumptions("Axioms:\nMine.classic : False\nf is assumed to be guarded.\n")
    ('Mine.classic', 'f is assumed to be guarded.')
    """
    kind, text = REPORT.split(SENTENCE.sub("", output))[1:]
    if kind.startswith("Closed"):
        return ()
    lines = (line for line in text.splitlines() if line and not line[0].isspace())
    return tuple(sorted({_assumption(line) for line in lines}))


def _assumption(line: str) -> str:
    named = ASSUMPTION.match(line)
    if named is None:
        return line
    short = named[1].rpartition(".")[2]
    is_known = short in ALLOWED and f".{ALLOWED[short].path}".endswith(f".{named[1]}")
    return short if is_known else named[1]


def _complaint(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """Return the line that Coq refused, 0 if it named none, and what it said."""
    match = ERROR.search(done.stderr)
    line, words = (int(match.group(1)), match.group(2)) if match else (0, done.stderr)
    said = " ".join(words.split())[:400] or f"Coq ended with status {done.returncode}"
    return line, f"line {line}: {said}" if line else said


def _judged(check: Check) -> Check:
    if not check.unexpected:
        return check
    message = f"rests on {', '.join(check.unexpected)}"
    return replace(check, outcome=Outcome.FAILED, message=message)


def _shares(stated: list[Theorem], times: list[tuple[int, float]]) -> list[float]:
    """Return the seconds of the sentences from each theorem to the next."""
    bounds = [*(theorem.start for theorem in stated), float("inf")]
    return [
        round(sum(took for at, took in times if start <= at < end), 3)
        for start, end in pairwise(bounds)
    ]


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def forget_limits(root: Path, files: Iterable[str]) -> None:
    """Forget which files took too long: it may have been the machine that had much to do.

    Args:
        root: the folder of builds.
        files: below it.
    """
    for file in files:
        record = (root / file).with_suffix(".json")
        known = _read(record)
        if known is not None and not known.succeeded and known.line == 0:
            record.unlink()


def _read(record: Path) -> Found | None:
    if not record.exists():
        return None
    return replace(json_lines.made(Found, json.loads(record.read_text())), is_new=False)
