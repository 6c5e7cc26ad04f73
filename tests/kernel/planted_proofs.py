"""For each theorem that is written by hand, a wrong statement: what is edited, and into what."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from planted_matrices import OF_MATRICES

from verify.kernel.coq import LIMITED, NAME, Coq
from verify.kernel.meaning import sentences
from verify.kernel.theorems import digest_with_needed

Edits = Mapping[str, tuple[str, str]]
Sources = Mapping[str, str]
BUILDS = Path(__file__).parents[2] / "build" / "coq"
LIMIT = 120
"""Seconds of processor time for one process of Coq."""
PROVED = ("Lemma", "Theorem")
EDITS = OF_MATRICES | {
    "Calculus.v": {
        "hessian_symmetric": ("dot (hessian F z a) b", "- dot (hessian F z a) b"),
    },
    "Derivatives.v": {
        "fact_C_2": ("- 1 / INR m", "+ 1 / INR m"),
        "fact_C_1": ("INR m * g b - sum g", "g b - sum g"),
        "equation_41_42": ("hessian_form gamma eps y", "hessian_form gamma 0 y"),
    },
    "Abstract.v": {
        "expansion_is_right": ("meval m vs ss H (sexpand", "- meval m vs ss H (sexpand")
    },
    "Inputs.v": {"largest_gradient": ("(s ^ 2 * norm2 a)", "(s * norm2 a)")},
    "santurkar2018/theorem_4_1.v": {
        "theorem_4_1_equality": ("- dot g yhat ^ 2 / INR m", "- dot g yhat ^ 2"),
        "theorem_4_1": ("norm2 g - dot one g ^ 2", "norm2 g - 2 * dot one g ^ 2"),
        "theorem_4_1_eps": ("0 <= eps", "True"),
        "theorem_4_1_eps_equality": ("1 + eps / sigma^2", "1 - eps / sigma^2"),
        "identification_of_gradients": ("beta = mean y -> ", ""),
        "identification_of_hessians": ("gamma = sigma -> ", ""),
        "theorem_4_1_bound": ("gamma^2 / sigma^2 *", "gamma / sigma^2 *"),
        "theorem_4_1_supplement_fails": ("(1 < m)%nat", "(0 < m)%nat"),
        "theorem_4_1_supplement_refuted": ("~ theorem_4_1_supplement", "theorem_4_1_supplement"),
    },
    "santurkar2018/theorem_4_2.v": {
        "hessian_of_batch_norm": ("3 / INR m", "2 / INR m"),
        "theorem_4_2_equality": ("- gamma / (INR m", "+ gamma / (INR m"),
        "theorem_4_2": ("0 < variance y", "0 <= variance y"),
        "theorem_4_2_eps_corrected": ("3 * b^2", "2 * b^2"),
        "theorem_4_2_second_display": ("dot w (H w) <= dot g (H g)", "True"),
        "theorem_4_2_second_display_corrected": ("gamma^2 <= sigma^2", "True"),
        "theorem_4_2_second_display_refuted": ("~ theorem", "theorem"),
    },
    "santurkar2018/curvature.v": {"hessian_of_piecewise_linear": ("convex l -> ", "")},
    "santurkar2018/theorem_4_4.v": {
        "theorem_4_4_corrected": ("lambda^2 / INR m", "lambda^2"),
        "theorem_4_4_eps": ("0 <= eps", "True"),
        "theorem_4_4_refuted": ("(S power)", "0"),
    },
    "santurkar2018/theorem_c_1.v": {
        "theorem_c_1_corrected": ("2 / (INR m * sigma)", "1 / (INR m * sigma)"),
        "theorem_c_1_last_term": ("27 / 64", "26 / 64"),
        "theorem_c_1_refuted": ("~ theorem", "theorem"),
    },
    "santurkar2018/lemma_4_5.v": {
        "observation_4_3": ("k <> 0", "True"),
        "lemma_4_5": ("- 1 / norm2 W", "- 2 / norm2 W"),
    },
    "santurkar2018/version_1.v": {
        "version_1_theorem_3_1": ("dot one x = 0", "True"),
        "version_1_theorem_3_1_corrected": ("1 + eps", "1 - eps"),
        "version_1_theorem_3_2_sharpened": ("(4 * sigma^2)", "(5 * sigma^2)"),
        "version_1_theorem_3_2": ("1 / sqrt c + 1", "1 / sqrt c - 1"),
        "version_1_lemma_3_3_sharpened": ("< 3 * e", "< 2 * e"),
        "version_1_lemma_3_3": ("e < 1/2", "e < 1"),
    },
    "santurkar2018/not_vacuous.v": {
        "main_theorems_are_not_vacuous": ("norm2 w = 1", "norm2 w = 2"),
        "lemma_4_5_is_not_vacuous": ("W0 <> W", "W0 = W"),
        "lemma_3_3_is_not_vacuous": ("e < 1/2", "e < 0"),
    },
}
"""The old text stands in the theorem's statement; its first occurrence is edited."""

WRONG_LAYERS = {
    "divided by m - 1": (
        "sum (fun i => (y i - mean y)^2) / INR m",
        "sum (fun i => (y i - mean y)^2) / (INR m - 1)",
    ),
    "epsilon outside of the root": (
        "R := sqrt (variance y + eps)",
        "R := sqrt (variance y) + eps",
    ),
    "not centred": ("(y i - mean y) / deviation eps y", "y i / deviation eps y"),
}
"""A definition in Layer.v as somebody could have written it."""


def edited(source: str, theorem: str, old: str, new: str) -> str:
    """Return a theorem of a file's text with its statement edited, and with its proof."""
    start = beginning(source, theorem)
    end = source.index("Qed.", start) + len("Qed.")
    statement, _, proof = source[start:end].partition("\nProof.")
    assert old in statement, f"{theorem} does not say {old!r}"
    wrong = statement.replace(old, new, 1).replace("Theorem ", "Theorem edited_", 1)
    return f"{wrong}\nProof.{proof}\n"


def beginning(source: str, theorem: str) -> int:
    """Return where a theorem begins in a file's text."""
    return next(re.finditer(rf"Theorem {theorem}\b", source)).start()


def admitted(source: str) -> str:
    """Return a file's text without the proofs of what stands outside of sections.

    Within one, what a lemma assumes depends on its proof.
    """
    said = sentences(source)
    for sentence, proof in reversed(list(pairwise(said))):
        if sentence.keyword in PROVED and not sentence.sections and proof.keyword == "Proof":
            end = next(s.start for s in said if s.keyword == "Qed" and s.start > proof.start)
            source = f"{source[: proof.start]}Admitted.{source[end + len('Qed.') :]}"
    return source


def asked(file: str, source: str, edits: Edits, folder: Path) -> str:
    """Return a file's text as a module, and what Coq, which goes on after an error, answers by.

    Each edited theorem is loaded before the right one, from a file in the folder: what is loaded
    ends at its first error.
    """
    text, module = admitted(source), re.sub(r"\W", "_", file)
    for theorem, (old, new) in edits.items():
        (folder / f"{theorem}.v").write_text(edited(source, theorem, old, new))
        start = beginning(text, theorem)
        text = f'{text[:start]}Load "{folder / theorem}".\n{text[start:]}'
    checks = "".join(f"\nCheck {kind}{theorem}." for theorem in edits for kind in ("", "edited_"))
    return f"Module {module}.\n{text}{checks}\nEnd {module}.\n"


def accepted(
    installed: Coq, root: Path, sources: Sources, edits: Mapping[str, Edits], workers: int
) -> set[str]:
    """Return the theorems whose edited statements Coq accepts with the same proof.

    The answer for a file is kept below the root as long as nothing that it depends on was edited.
    One process of Coq reads many files, as it takes seconds to load what they need.
    """
    kept = {file: root / "planted" / _kept(installed, sources, file, edits[file]) for file in edits}
    waiting = [file for file in edits if not kept[file].exists()]
    (root / "planted").mkdir(parents=True, exist_ok=True)

    def ask(files: Sequence[str]) -> None:
        told = _told(installed, root, sources, {file: edits[file] for file in files})
        for file in files:
            assert edits[file].keys() <= told, f"Coq did not read {file} to its end"
            found = [theorem for theorem in edits[file] if f"edited_{theorem}" in told]
            kept[file].write_text(json.dumps(found))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(ask, filter(None, (waiting[n::workers] for n in range(workers)))))
    return {theorem for path in kept.values() for theorem in json.loads(path.read_text())}


def _kept(installed: Coq, sources: Sources, file: str, edits: Edits) -> str:
    text = sources[file]
    key = f"{installed.version} {digest_with_needed(text, sources)} {text} {edits}"
    return f"{hashlib.sha256(key.encode()).hexdigest()}.json"


def _told(installed: Coq, root: Path, sources: Sources, edits: Mapping[str, Edits]) -> set[str]:
    """Return the theorems that one process of Coq knows after it has read some files' edits."""
    top = Path(installed.compiler).with_name("coqtop")
    command = [str(top), "-q", "-w", "none", "-Q", ".", NAME]
    limited = ["sh", "-c", LIMITED, str(LIMIT), *command]
    with TemporaryDirectory() as folder:
        texts = [
            asked(file, sources[file], of_file, Path(folder)) for file, of_file in edits.items()
        ]
        done = subprocess.run(
            limited, cwd=root, input="Set Silent.\n" + "".join(texts), capture_output=True,
            text=True, check=True,
        )  # fmt: skip
    return set(re.findall(r"^(\w+)\s+: ", done.stdout, re.MULTILINE))
