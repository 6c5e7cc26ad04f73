"""What the words of a Coq file mean: its sentences, and what a statement rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from verify.kernel.theorems import Theorem, needed, without_comments

SENTENCE = re.compile(r"(.*?)\.(?=\s|\Z)", re.DOTALL)
OPENING = re.compile(
    r"(?:[\s\-+*{}]|(?:[\d\s,\-]+|all|par|!|\[\s*\w+\s*\])\s*:)*"
    r"((?:(?:Local|Global)\s+|#\[(?:[^\]\"]|\"[^\"]*\")*\]\s*)*)(\w+)\s*(.*)",
    re.DOTALL,
)
"""Within a proof bullets, braces and the numbers of goals may come before a sentence."""
ASSUMING = frozenset(["Variable", "Variables", "Hypothesis", "Hypotheses", "Context"])
"""What is assumed until a section ends; outside of one it would be an axiom."""
READING = frozenset(["Notation", "Infix", "Open"])
"""What changes how the text that follows is read."""
CONTEXT = ASSUMING | READING | {"Let"}
DEFINING = frozenset(
    ["Definition", "Fixpoint", "Inductive", "Record", "Notation", "Canonical", "Lemma", "Theorem"]
)
"""What gives a word a meaning, or another than it had."""
SEVERAL = frozenset(["Inductive", "Record"])
"""What defines constructors or fields besides."""
OTHERS = frozenset(
    ["Arguments", "Bind", "Combined", "Declare", "Defined", "Delimit", "End", "From", "Implicit",
     "Import", "Let", "Ltac", "Ltac2", "Print", "Proof", "Qed", "Scheme", "Section", "Set", "Unset"]
)  # fmt: skip
KNOWN = ASSUMING | READING | DEFINING | OTHERS
"""The words that a sentence may begin with, apart from those of tactics, which are small."""
CLOSING = ("Defined", "Qed")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a file, and what was assumed and how text was read where it stands."""

    keyword: str
    text: str
    """White space made one."""
    start: int
    """Where it begins in the file, in characters."""
    is_local: bool
    sections: tuple[str, ...]
    context: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The words that it gives a meaning to."""
        names = re.findall(rf"(?:{self.keyword}|\bwith)\s+(\w+)", self.text)
        if self.keyword in SEVERAL:
            names += re.findall(r"[|{;]\s*(\w+)", self.text.partition(":=")[2])
        return tuple(names)


@cache
def sentences(source: str) -> tuple[Sentence, ...]:
    """Return the sentences of a file; a definition that a script makes has the script in it."""
    text = without_comments(source)
    found: list[Sentence] = []
    sections: list[str] = []
    contexts: list[list[str]] = [[]]
    waiting: list[str] = []
    for match in SENTENCE.finditer(text):
        said = " ".join(match.group(1).split())
        opening = OPENING.match(said)
        if opening is None:
            continue
        keyword = opening[2]
        if waiting:
            waiting.append(said)
            if keyword not in CLOSING:
                continue
            said, keyword, waiting = ". ".join(waiting), "Definition", []
        elif keyword == "Definition" and ":=" not in said:
            waiting = [said]
            continue
        if keyword == "Section":
            sections.append(opening[3])
            contexts.append([])
        elif keyword == "End" and sections and opening[3] == sections[-1]:
            sections.pop()
            contexts.pop()
        start = match.start() + len(match.group(1)) - len(match.group(1).lstrip())
        assumed = tuple(line for lines in contexts for line in lines)
        is_local = "Local" in opening[1]
        found.append(Sentence(keyword, said, start, is_local, tuple(sections), assumed))
        if keyword in CONTEXT:
            contexts[-1].append(said)
    return tuple(found)


def definitions(theorem: Theorem, files: Mapping[str, str], own: str) -> list[Sentence]:
    """Return the definitions that a theorem's statement rests on, at any remove.

    Args:
        theorem: the theorem.
        files: the texts to look in, by their paths.
        own: the path of its own file, which is read by its own notations.
    """
    table: dict[str, list[Sentence]] = {}
    for file, text in files.items():
        for sentence in sentences(text):
            if sentence.keyword in DEFINING and (file == own or not sentence.is_local):
                for name in sentence.names:
                    table.setdefault(name, []).append(sentence)
    for bound in re.findall(r"\blet (\w+) :=", theorem.statement):
        table.pop(bound, None)
    found: dict[Sentence, None] = {}
    waiting = [theorem.statement]
    while waiting:
        for word in dict.fromkeys(re.findall(r"\w+", waiting.pop())):
            for sentence in table.pop(word, ()):
                found[sentence] = None
                waiting.append(sentence.text)
    return list(found)


def meaning(theorem: Theorem, file: str, library: Mapping[str, str]) -> list[str]:
    """Return what says what a theorem means: definitions, notations, and what they stand under."""
    source = library[file]
    files = {file: source, **needed(source, library)}
    defined = definitions(theorem, files, file)
    read = (
        sentence.text
        for name, text in files.items()
        for sentence in sentences(text)
        if sentence.keyword in READING and (name == file or not sentence.is_local)
    )
    return sorted({*(line for s in defined for line in (s.text, *s.context)), *read})
