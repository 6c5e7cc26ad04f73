"""The tactics that statements' proofs are made of, on goals of one line."""

import pytest

from verify.kernel.compilation import LIMIT
from verify.kernel.export import HEADER

ZERO, NONZERO = "intros; zero_terms", "intros; nonzero"
TRUE = {
    "forall a b c : R, 0 = b -> 0 = c -> a * b - c / a = 0": ZERO,
    "forall k q r : R, 0 < k -> q / k + r / k <> 0 -> k * k * (q + r) <> 0": NONZERO,
    "forall k q : R, 0 < k -> q <> 0 -> 1 / (k * q) + 1 <> 0 -> k * (1 + k * q) <> 0": NONZERO,
}
FALSE = {
    "forall a b c : R, 0 = b -> a * b - c / a = 0": ZERO,
    "forall k q r : R, 0 < k -> q / k + r / k <> 0 -> k * k * (q - r) <> 0": NONZERO,
    "forall k q r : R, q / k + r / k <> 0 -> k * k * (q + r) <> 0": NONZERO,
}
PROOFS = {
    "accepts": (TRUE, "solve [{}]. Qed."),
    "refuses": (FALSE, "assert_fails (solve [{}]). Abort."),
}


@pytest.mark.parametrize("answer", PROOFS)
def test_a_tactic_proves_what_is_true_by_it_and_no_more(compiled_library, answer):
    installed, builds = compiled_library
    goals, ending = PROOFS[answer]
    proofs = (f"Goal {goal}.\nProof. {ending.format(by)}\n" for goal, by in goals.items())
    file = f"tactic_{answer}.v"
    (builds / file).write_text(HEADER + "".join(proofs))
    done = installed.compile(builds, file, LIMIT)
    assert (done.returncode, done.stderr) == (0, "")
