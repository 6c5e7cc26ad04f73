r"""What is wrong with an output: a fit on the closed form's own terms, and a guess in words.

Each closed form is a sum of terms with known factors.  Least squares find the factors that the
output has; a term that is missing has the factor 0.  Where no factors fit, the output is compared
with the layers that people write by mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from verify.conform.cases import OFFSET, Case, Stratum
from verify.conform.judge import ENTRYWISE, Cell
from verify.conform.mistakes import (
    EVALUATIONS,
    MEANS,
    MISTAKES,
    RIGHT,
    RMS_MISTAKES,
    RMS_RIGHT,
    STEP,
    SUMMANDS,
    VARIANCES,
    Evaluated,
    Gradient,
    Layer,
    Remembered,
)
from verify.conform.mistakes import SLOPES as WRONG_SLOPES
from verify.conform.modes import by_name
from verify.conform.oracle import Convention
from verify.conform.places import (
    AFTER,
    COUNTERPART,
    ELSEWHERE,
    LATER,
    READ_AGAIN,
    RECORDED,
    SLOPES,
    SURE,
    THROUGH_RECORDED,
    counterpart,
    meaning,
    place,
)
from verify.conform.statistics import (
    GENERAL,
    HALF,
    MULTIPLIED,
    NO_MOMENTS,
    OF_PARTS,
    ROUNDED_TO_HALF,
    statistics_of,
)
from verify.conform.vectors import USUAL, Vectors
from verify.conform.words import FAILURES

FITS = {"float64": (1e-5, 1e-12), "float32": (1e-2, 1e-5)}
"""Residuals are a fit that are below these parts of what is to be explained, or of the output."""
LIKE = {"float64": 1e-9, "float32": 1e-4}
"""An output that is this near to that of another layer is that layer's."""
Array = np.ndarray


@dataclass(frozen=True)
class Observation:
    """An output that fails, where it was observed."""

    case: Case
    mode: str
    output: str
    values: Array
    """In the shape of the layer, or one number a channel."""


@dataclass(frozen=True)
class Finding:
    """What is wrong with an output, in the terms of the closed form."""

    mode: str
    output: str
    sentence: str
    guess: str = ""


@dataclass(frozen=True)
class Term:
    """A part of a closed form: how it is written, its value, its factor."""

    text: str
    value: Array
    factor: float


def terms(answer: str, v: Vectors) -> list[Term]:
    """Return the terms of a closed form; their sum with their factors is the closed form."""
    return list(TERMS[answer](v))


def _of_z(v: Vectors) -> Iterator[Term]:
    yield Term("γ ŷ", v.at["gamma"] * v.yhat, 1)
    yield Term("β", v.at["beta"], 1)


def _of_dz(v: Vectors) -> Iterator[Term]:
    yield from _first(v, v.at["u"], "u", v.at["gamma"], "γ ")
    yield Term("a ŷ", v.at["a"] * v.yhat, 1)
    yield Term("b", v.at["b"], 1)


def _of_hx(v: Vectors) -> Iterator[Term]:
    yield from _second(v, v.pulled, "γg", 1.0)
    yield from _first(v, v.at["a"] * v.at["g"], "ag", 1.0)


def _of_ddz(v: Vectors) -> Iterator[Term]:
    u, w = v.at["u"], v.at["w"]
    yield from _second(v, w, "w", v.at["gamma"], "γ ")
    yield from _first(v, w, "w", v.at["a"], "a ")
    yield from _first(v, u, "u", v.at["c"], "a' ")


def _of_tx(v: Vectors) -> Iterator[Term]:
    yield from _third(v, v.at["u"], v.pulled)
    turned = _second(v, v.at["a"] * v.at["g"], "ag", 1.0)
    yield Term("2 D²n[u, ag]", 2 * np.sum([t.factor * t.value for t in turned], axis=0), 1)


def _of_hgamma(v: Vectors) -> Iterator[Term]:
    return (_on_channels(v, term) for term in _first(v, v.at["u"], "u", 1.0))


def _of_tgamma(v: Vectors) -> Iterator[Term]:
    return (_on_channels(v, term) for term in _second(v, v.at["u"], "u", 1.0))


def _of_mean(v: Vectors) -> Iterator[Term]:
    yield Term("m_r", v.at["mean"][0], 1 - v.convention.weight)
    yield Term("mean(x)", v.at["x"].mean(axis=0), v.convention.weight)


def _of_variance(v: Vectors) -> Iterator[Term]:
    correction = v.m / max(v.m - 1, 1) if v.convention.is_unbiased else 1
    yield Term("v_r", v.at["variance"][0], 1 - v.convention.weight)
    yield Term("var(x)", np.var(v.at["x"], axis=0), correction * v.convention.weight)


def _of_ez(v: Vectors) -> Iterator[Term]:
    yield Term("γ (x - m_r)/sqrt(v_r + eps)", v.at["gamma"] * v.evaluated, 1)
    yield Term("β", v.at["beta"], 1)


def _of_ex(v: Vectors) -> Iterator[Term]:
    yield Term("γ g/sqrt(v_r + eps)", v.pulled / v.running_sigma, 1)


def _of_edz(v: Vectors) -> Iterator[Term]:
    yield Term("γ u/sqrt(v_r + eps)", v.at["gamma"] * v.at["u"] / v.running_sigma, 1)
    yield Term("a (x - m_r)/sqrt(v_r + eps)", v.at["a"] * v.evaluated, 1)
    yield Term("b", v.at["b"], 1)


TERMS: dict[str, Callable[[Vectors], Iterable[Term]]] = {
    "z": _of_z,
    "x": lambda v: _first(v, v.pulled, "γg", 1.0),
    "gamma": lambda v: [Term("sum(g ŷ)", v.summed(v.at["g"] * v.yhat), 1)],
    "beta": lambda v: [Term("sum(g)", v.summed(v.at["g"]), 1)],
    "dz": _of_dz,
    "hx": _of_hx,
    "ddz": _of_ddz,
    "tx": _of_tx,
    "hgamma": _of_hgamma,
    "tgamma": _of_tgamma,
    "hbeta": lambda _: (),
    "tbeta": lambda _: (),
    "mean": _of_mean,
    "variance": _of_variance,
    "mean3": lambda _: (),
    "variance3": lambda _: (),
    "ez": _of_ez,
    "ex": _of_ex,
    "egamma": lambda v: [
        Term("sum(g (x - m_r)/sqrt(v_r + eps))", v.summed(v.at["g"] * v.evaluated), 1)
    ],
    "edz": _of_edz,
    "ehx": lambda v: [Term("a g/sqrt(v_r + eps)", v.at["a"] * v.at["g"] / v.running_sigma, 1)],
    "ehgamma": lambda v: [
        Term("sum(g u/sqrt(v_r + eps))", v.summed(v.at["g"] * v.at["u"] / v.running_sigma), 1)
    ],
}
"""For each closed form its terms."""


def _first(
    v: Vectors, u: Array, name: str, scale: Array | float, prefix: str = ""
) -> Iterator[Term]:
    yield Term(f"{prefix}{name}/σ", scale * u / v.sigma, 1)
    if v.is_centred:
        yield Term(f"{prefix}mean({name})/σ", scale * v.mean(u) / v.sigma, -1)
    yield Term(f"{prefix}ŷ <ŷ, {name}>/(mσ)", scale * v.yhat * v.along(u) / v.sigma, -1)
    if v.is_centred:
        yield Term(f"{prefix}ŷ mean({name})/σ", scale * v.yhat * v.mean(u) / v.sigma, 0)


def _second(
    v: Vectors, b: Array, name: str, scale: Array | float, prefix: str = ""
) -> Iterator[Term]:
    """The terms of the layer's second derivative along u and another direction."""
    u = v.at["u"]
    on_u, on_b, by = v.along(u), v.along(b), scale / v.sigma**2

    def term(text: str, value: Array, factor: float) -> Term:
        return Term(f"{prefix}{text}/σ²", value * by, factor)

    yield term(f"ŷ cov(u, {name})", v.yhat * v.product(u, b), -1)
    yield term(f"ŷ <ŷ, u><ŷ, {name}>/m²", v.yhat * on_u * on_b, 3)
    if v.is_centred:
        yield term(f"ŷ mean(u) mean({name})", v.yhat * v.mean(u) * v.mean(b), 0)
    yield term(f"u <ŷ, {name}>/m", u * on_b, -1)
    if v.is_centred:
        yield term(f"mean(u) <ŷ, {name}>/m", v.mean(u) * on_b, 1)
    yield term(f"{name} <ŷ, u>/m{', again' if name == 'u' else ''}", b * on_u, -1)
    if v.is_centred:
        yield term(f"mean({name}) <ŷ, u>/m", v.mean(b) * on_u, 1)


def _third(v: Vectors, u: Array, b: Array) -> Iterator[Term]:
    on_u, on_b, uu, ub = v.along(u), v.along(b), v.product(u, u), v.product(u, b)
    by, yhat = 1 / v.sigma**3, v.yhat
    yield Term("ŷ <ŷ, u> cov(u, γg)/(mσ³)", yhat * on_u * ub * by, 6)
    yield Term("ŷ <ŷ, γg> var(u)/(mσ³)", yhat * on_b * uu * by, 3)
    yield Term("ŷ <ŷ, u>² <ŷ, γg>/(m³σ³)", yhat * on_u**2 * on_b * by, -15)
    yield Term("ū <ŷ, u><ŷ, γg>/(m²σ³)", v.bar(u) * on_u * on_b * by, 6)
    yield Term("ū cov(u, γg)/σ³", v.bar(u) * ub * by, -2)
    yield Term("(γg - mean(γg)) <ŷ, u>²/(m²σ³)", v.bar(b) * on_u**2 * by, 3)
    yield Term("(γg - mean(γg)) var(u)/σ³", v.bar(b) * uu * by, -1)


def _on_channels(v: Vectors, term: Term) -> Term:
    return Term(f"sum(g {term.text})", v.summed(v.at["g"] * term.value), term.factor)


OF_ANOTHER = "is that of another formula"
FOLLOWS = "not looked into, since the {} is wrong"
UNEXPLAINED = "no factors of the closed form's terms explain it"
CHANGED = "is changed after it was returned"
LATER_STEPS = "the first step is right, and a later one is not"
ZERO = ("hbeta", "tbeta")
"""Closed forms that are zero."""
OF_EVALUATION = ("evaluation gradient", "evaluation second")
OVER_FORWARD = ("second rf", "second ff")
"""Modes that differentiate the tangent."""
OF_NEXT = "what the first derivative is made of is held constant in the next one, or left out"
OF_STATE = (
    *("running", "running without gradient", "recomputed"),
    *("evaluation", "evaluation without gradient", *OF_EVALUATION),
)
"""Modes that do not go through the forward of the batch."""


def diagnosed(
    observations: Sequence[Observation],
    is_centred: bool,
    cells: Sequence[Cell] = (),
    strata: Sequence[Stratum] = (),
    convention: Convention = USUAL,
) -> list[Finding]:
    """Return what is wrong with each mode and output that is observed to fail.

    Args:
        observations: the outputs that fail.
        is_centred: whether the mean is subtracted.
        cells: of the whole examination, for where an output fails.
        strata: of the whole examination.
        convention: of the running statistics.
    """
    rows: dict[tuple[str, str], list[Observation]] = {}
    for seen in observations:
        rows.setdefault((seen.mode, seen.output), []).append(seen)
    of_row: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        of_row.setdefault((cell.mode, cell.output), []).append(cell)
    findings = []
    for row in dict.fromkeys([*rows, *of_row]):
        about = Finding(*row, "")
        if row in rows:
            about = _finding(row, rows[row], is_centred, convention)
        found = _placed(about, place(of_row.get(row, ()), strata))
        if found.sentence:
            findings.append(found)
    findings = [_cut_off(f, findings) for f in findings]
    ordered = [_after_recorded(f, findings) or _in_order(f, findings, of_row) for f in findings]
    return _explained([_leaking(found, of_row) for found in ordered])


CUT_OFF = "the output is cut off from its input"
NOT_USED = ("gamma is missing", "beta is missing")


def _cut_off(found: Finding, findings: Sequence[Finding]) -> Finding:
    """Return a finding, with another guess for a parameter where the gradient in x is zero, too."""
    is_cut = any(f.mode == found.mode and f.guess == CUT_OFF for f in findings)
    if not is_cut or found.guess not in NOT_USED:
        return found
    return replace(found, sentence="is zero", guess=CUT_OFF)


LEAKS = "fails at other cases than the {} does, whose numbers are the same"


def _explained(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, with the guess of what leaks for whatever it makes wrong."""
    leaks = {
        plain: found.guess
        for found in findings
        if (plain := COUNTERPART.get(found.mode)) and found.sentence == LEAKS.format(plain)
    }
    made_wrong = {FOLLOWS.format(plain): guess for plain, guess in leaks.items()}
    return [
        replace(found, guess=leaks.get(found.mode) or made_wrong.get(found.sentence, found.guess))
        for found in findings
    ]


def _leaking(found: Finding, of_row: Mapping[tuple[str, str], Sequence[Cell]]) -> Finding:
    """Return a finding, with another guess where a second call is not like the first."""
    if not found.mode.startswith("repeated"):
        return found
    plain = COUNTERPART[found.mode]
    row = plain, found.output.removeprefix("first ")
    first, again = (
        {(c.stratum, c.dtype): c.word in FAILURES for c in of_row.get(row, ())}
        for row in (row, (found.mode, found.output))
    )
    differs = any(first[at] != again[at] for at in first.keys() & again.keys())
    own = FOLLOWS.format(plain), UNEXPLAINED, ELSEWHERE, OF_ANOTHER
    is_own = found.sentence.startswith(own)
    if not differs or not is_own:
        return found
    # Where the plain result is wrong at times, nothing says that a later call made it so.
    output = row[1] if any(first.values()) else found.output
    return replace(found, sentence=LEAKS.format(plain), guess=meaning(found.mode, output))


OF_PLACES = frozenset(meaning for meaning, _ in SURE)


def _placed(found: Finding, where: tuple[str, str]) -> Finding:
    """Return a finding with the place where the output fails, if it is right elsewhere."""
    at, guess = where
    if not at:
        return found
    known = found.sentence not in ("", UNEXPLAINED, NO_MOMENTS)
    is_vague = found.guess in ("", OF_PARTS, *GENERAL) or MULTIPLIED in found.guess
    return replace(
        found,
        sentence=f"{found.sentence}; {at}" if known else at,
        guess=(guess or found.guess) if is_vague or guess in OF_PLACES else found.guess,
    )


def _in_order(
    found: Finding, findings: Sequence[Finding], examined: Container[tuple[str, str]]
) -> Finding:
    """Return a finding, unless it follows from one of a simpler mode."""
    by_place = {(f.mode, f.output): f for f in findings}
    plainer = counterpart(found.mode, found.output)
    plain_row = plainer or "", found.output.removeprefix("first ")
    is_plain_right = plain_row in examined and plain_row not in by_place
    if found.mode == "forward" or (found.sentence == OF_ANOTHER and not is_plain_right):
        return found
    forward = by_place.get(("forward", "z"))
    if forward is not None and found.mode not in OF_STATE:
        return _following(found, "forward", forward)
    for end, (what, guess) in AFTER.items():
        if found.output.endswith(end):
            plain = by_place.get((found.mode, found.output.removesuffix(end)))
            return _following(found, what, plain) if plain else replace(found, guess=guess)
    if found.mode in READ_AGAIN and found.output.startswith("first "):
        plain = by_place.get((found.mode, found.output.removeprefix("first ")))
        changed = Finding(found.mode, found.output, CHANGED, LATER)
        return _following(found, "result as it was returned", plain) if plain else changed
    first = by_place.get((found.mode, found.output.removesuffix(", 3 steps")), found)
    evaluated = by_place.get(("evaluation", "z"))
    if first is not found:
        return _following(found, "first step", first)
    if found.output.endswith(", 3 steps") and found.sentence == UNEXPLAINED:
        return replace(found, sentence=LATER_STEPS, guess="a step depends on those before it")
    if evaluated is not None and found.mode in OF_EVALUATION:
        return _following(found, "evaluation", evaluated)
    if is_plain_right:
        return _unlike(found, plain_row[0])
    return _after_gradient(found, by_place, plainer or "gradient")


def _unlike(found: Finding, plainer: str) -> Finding:
    """Return a finding on an output that is right in a plainer mode."""
    said = f"is not the {plainer}'s, which is right"
    if "instead of" in found.sentence:
        said = found.sentence
    elif found.sentence == OF_ANOTHER:
        said = f"{OF_ANOTHER} ({found.guess})"
    return replace(found, sentence=said, guess=meaning(found.mode, found.output))


def _after_gradient(
    found: Finding, by_place: Mapping[tuple[str, str], Finding], plainer: str
) -> Finding:
    """Return a finding, with the guess of what it is made of where that is wrong as well."""
    if found.mode in ("gradient", *OF_STATE):
        return found
    is_higher, is_forward = by_name(found.mode).order > 1, found.mode in OVER_FORWARD
    rows = [(plainer, found.output), ("gradient", "x")]
    if is_higher:
        rows = [("jvp", "z")] * is_forward + rows + [("gradient", name) for name in SLOPES]
    slope = next((by_place[row] for row in rows if row in by_place), None)
    if slope is not None and found.sentence.startswith((UNEXPLAINED, ELSEWHERE)):
        return _following(found, slope.mode, slope)
    if not is_higher:
        return found
    if slope is not None:
        return replace(found, guess=slope.guess)
    is_of_first = found.guess == CUT_OFF or OR_LEFT_OUT in found.guess
    is_unnamed = not found.guess and "instead of" in found.sentence
    return replace(found, guess=OF_NEXT) if is_of_first or is_unnamed else found


def _after_recorded(found: Finding, findings: Sequence[Finding]) -> Finding | None:
    """Return what is to be said of a mode that goes through a wrong recorded gradient."""
    wrong = {(f.mode, f.output) for f in findings}
    alone = [n for n in SLOPES if (RECORDED, n) in wrong and ("gradient", n) not in wrong]
    plain = found.output.removeprefix("first ").removesuffix(", in pairs")
    is_met = plain in alone or by_name(found.mode).order > 1
    if not alone or not is_met or found.mode not in THROUGH_RECORDED or ("forward", "z") in wrong:
        return None
    return Finding(found.mode, found.output, FOLLOWS.format(RECORDED), meaning(RECORDED, ""))


def _following(found: Finding, what: str, first: Finding) -> Finding:
    return Finding(found.mode, found.output, FOLLOWS.format(what), first.guess)


def _finding(
    row: tuple[str, str], seen: Sequence[Observation], is_centred: bool, convention: Convention
) -> Finding:
    mode, output = row
    answer = by_name(mode).answers[output]
    if answer in ZERO:
        return Finding(mode, output, "is not zero, as a second derivative in beta is")
    best = "float64" if any(o.case.dtype == "float64" for o in seen) else "float32"
    usable = _usable([o for o in seen if o.case.dtype == best and not o.case.touched.any()])
    mistaken = partial(_mistake, answer, usable, is_centred)
    other = partial(_other_formula, answer, usable, is_centred, convention)
    # A sum's summands are nearer at hand than another layer that has them.
    first, second = (other, mistaken) if answer in SUMMANDS else (mistaken, other)
    if guess := first() or second():
        return Finding(mode, output, OF_ANOTHER, guess)
    for observation in _for_the_fit(usable):
        vectors = Vectors(observation.case, is_centred, convention)
        parts = terms(answer, vectors)
        output_there = _compared(observation, answer)
        size = _relative(output_there.ravel(), _sum(parts).ravel()) if parts else np.inf
        if best == "float64" and 2.0**-27 < size < 2.0**-21:
            return Finding(
                mode, output, f"differs by {size:.0e} of its size", "computed in single precision"
            )
        factors = _factors(observation, parts, answer)
        if answer in ("mean", "variance") and not factors and HALF[0] < size < HALF[1]:
            return Finding(mode, output, f"differs by {size:.0e} of its size", ROUNDED_TO_HALF)
        if factors:
            return Finding(
                mode,
                output,
                _sentence(factors, parts, vectors.m),
                _guessed(answer, factors, parts, vectors),
            )
        sentence, guess = statistics_of(answer, output_there, vectors, best)
        if sentence:
            return Finding(mode, output, sentence, guess)
    return Finding(mode, output, UNEXPLAINED)


ENOUGH = 5
"""Units whose different sizes tell the terms apart."""


def _usable(seen: Sequence[Observation]) -> Sequence[Observation]:
    """Return the observations whose rounding is small beside any mistake, where there are some."""
    easy = [o for o in seen if o.case.stratum.kind != OFFSET and o.case.stratum.name != "constant"]
    return easy or seen


def _for_the_fit(seen: Sequence[Observation]) -> Sequence[Observation]:
    """Return the observations to fit, the best first; others only where the best are missing."""
    ordered = sorted(seen, key=_preference)
    best = [o for o in ordered if not _preference(o)[0]]
    return best or ordered


def _preference(observation: Observation) -> tuple[bool, int]:
    """Sort observations: many channels tell all terms apart, then the ordinary case."""
    names = ("many channels", "plain")
    name = observation.case.stratum.name
    return name not in names, names.index(name) if name in names else -observation.values.size


def _relative(output: Array, expected: Array) -> float:
    """Return the size of the difference, relative to the output's."""
    size = float(np.linalg.norm(output))
    return float(np.linalg.norm(output - expected)) / size if size else np.inf


def _sum(parts: Sequence[Term]) -> Array:
    return np.sum([part.factor * part.value for part in parts], axis=0)


def _compared(observation: Observation, answer: str) -> Array:
    values = observation.values
    return observation.case.place.matrix(values) if answer in ENTRYWISE else values


def _factors(
    observation: Observation, parts: Sequence[Term], answer: str
) -> list[tuple[Term, float]]:
    """Return the terms whose factor differs, with the factor found; none where nothing fits.

    The fewest terms that explain the output: one, two, the closed form's own, or those and others.
    """
    output = _compared(observation, answer).ravel()
    has_enough = observation.case.place.statistics.shape[1] >= ENOUGH
    if not parts or not has_enough or not np.all(np.isfinite(output)):
        return []
    columns = np.stack([part.value.ravel() for part in parts], axis=1)
    lengths = np.linalg.norm(columns, axis=0)
    expected = np.array([part.factor for part in parts])
    rest = output - columns @ expected
    is_fit, noise = FITS[observation.case.dtype]
    tolerance = max(is_fit * np.linalg.norm(rest), noise * np.linalg.norm(output))
    used = [k for k in range(len(parts)) if lengths[k] > 0]
    own = tuple(k for k in used if expected[k])
    choices = [*combinations(used, 1), *combinations(used, 2), own]
    if observation.case.place.statistics.shape[1] >= len(used):
        choices.append(tuple(used))
    for chosen in choices:
        indices = list(chosen)
        if len(indices) >= len(output):
            continue
        scaled = columns[:, indices] / lengths[indices]
        change, *_ = np.linalg.lstsq(scaled, rest, rcond=1e-10)
        if np.linalg.norm(scaled @ change - rest) <= tolerance:
            found = expected[indices] + change / lengths[indices]
            is_new = np.abs(change) > 10 * tolerance
            triples = zip(indices, found, is_new, strict=True)
            return [(parts[k], float(factor)) for k, factor, new in triples if new]
    return []


MENTIONED = 3
"""More terms than these are counted."""


def _sentence(factors: Sequence[tuple[Term, float]], parts: Sequence[Term], m: int) -> str:
    needed = [part for part in parts if part.factor]
    ratios = [found / term.factor for term, found in factors if term.factor]
    is_every = len(ratios) == len(needed) == len(factors) > 1
    if is_every and max(map(abs, ratios)) < 1e-6:
        return "every term is missing"
    if is_every and np.ptp(ratios) < 1e-4 * abs(ratios[0]):
        return f"every term has {_number(ratios[0])}{_known_as(ratios[0], m)} times its factor"
    said = [_said(term, found, m) for term, found in factors[:MENTIONED]]
    more = len(factors) - MENTIONED
    return "; ".join([*said, f"and {more} more" if more > 0 else ""]).removesuffix("; ")


def _said(term: Term, found: float, m: int) -> str:
    if term.factor == 0:
        return f"a term {term.text} that is not there has the factor {_number(found)}"
    known = _known_as(found / term.factor, m)
    return f"the term {term.text} has the factor {_number(found)}{known} instead of {term.factor:g}"


def _number(value: float) -> str:
    return f"{0.0 if abs(value) < 1e-6 else value:.4g}"


def _known_as(ratio: float, m: int) -> str:
    """Return how a ratio of factors is written with m, where it is."""
    name = _name_of(ratio, m)
    return f" (times {name})" if name else ""


def _name_of(ratio: float, m: int) -> str:
    names = {
        "m/(m - 1)": m / (m - 1) if m > 1 else np.inf,
        "(m - 1)/m": (m - 1) / m,
        "m": float(m),
        "1/m": 1 / m,
        "m - 1": m - 1.0,
    }
    near = (name for name, value in names.items() if abs(ratio - value) < 1e-4 * abs(value))
    return next(near, "")


def _guessed(
    answer: str, factors: Sequence[tuple[Term, float]], parts: Sequence[Term], v: Vectors
) -> str:
    """Return a guess in words from the factors that differ."""
    if any(term.factor == 0 for term, _ in factors):
        return ""
    if answer in ("mean", "variance"):
        return _of_steps(factors, parts)
    ratios = {term.text: found / term.factor for term, found in factors}
    missing = {text for text, ratio in ratios.items() if abs(ratio) < 1e-4}
    if len(missing) > 1 and missing == {part.text for part in parts if part.factor}:
        return CUT_OFF
    if missing and missing == set(ratios):
        return _of_missing(answer, missing, v.is_centred)
    if all(abs(ratio + 1) < 1e-4 for ratio in ratios.values()):
        return "a sign"
    if answer == "z" and set(ratios) == {"γ ŷ"}:
        ratio = ratios["γ ŷ"]
        square = "variance" if v.is_centred else "mean square"
        return f"the {square} is multiplied by {ratio**-2:.4g}, or gamma by {ratio:.4g}"
    count = v.m if answer in ENTRYWISE else v.sharing.shape[0]
    names = {_name_of(ratio, count) for ratio in ratios.values()}
    if answer in ENTRYWISE and names == {"1/m"}:
        return "divided by m once too often"
    return GUESSED.get(names.pop(), "") if len(names) == 1 else ""


GUESSED = {
    "m/(m - 1)": "m - 1 for m",
    "(m - 1)/m": "m - 1 for m",
    "1/m": "averaged instead of summed",
    "m": "summed instead of averaged",
    "m - 1": "summed instead of averaged, by m - 1",
}
"""What a ratio of all factors may mean."""


def _of_steps(factors: Sequence[tuple[Term, float]], parts: Sequence[Term]) -> str:
    """Return a guess from the shares of the old statistic and of the batch's."""
    found = {part.text: part.factor for part in parts}
    found |= {term.text: factor for term, factor in factors}
    share, of_batch = found.values()
    should, weight = (part.factor for part in parts)
    choices = {
        "it is not moved": (1.0, 0.0),
        "it is replaced": (0.0, of_batch),
        "it is moved twice": (should**2, weight * (1 + should)),
        "momentum weighs the other one": (1 - should, weight / (1 - should) * should),
    }
    near = (
        name
        for name, (a, b) in choices.items()
        if abs(share - a) < 1e-4 and abs(of_batch - b) < 1e-4
    )
    return next(near, "")


OR_LEFT_OUT = "held constant (detached), or left out of the derivative"
HELD = "a statistic saved by the forward is held constant in the next derivative"


def _of_missing(answer: str, missing: set[str], is_centred: bool) -> str:
    square = "variance" if is_centred else "mean square"
    is_mean = any("mean(" in text for text in missing)
    is_variance = any("ŷ <ŷ" in text for text in missing)
    if answer in ("x", "dz", "hgamma"):
        if is_mean and is_variance:
            return f"mean and {square} are {OR_LEFT_OUT}"
        if is_variance:
            return f"the {square} is {OR_LEFT_OUT}"
        if is_mean:
            return f"the mean is {OR_LEFT_OUT}"
    return HELD if answer in ("hx", "ddz", "tx", "tgamma") else "left out"


STEPS = 64


def _mistake(answer: str, seen: Sequence[Observation], is_centred: bool) -> str:
    """Return the mistakes that explain every observation."""
    if answer not in ("z", "dz", "x", "gamma", "beta"):
        return ""
    # A gradient takes a complex step for each entry; small batches are asked first.
    seen = [o for o in seen if answer != "x" or o.case.together <= STEPS]
    seen.sort(key=lambda o: o.case.together)
    return _either(
        mistake.guess
        for mistake in (MISTAKES if is_centred else RMS_MISTAKES)
        if (told := _of_rows(seen) if mistake.is_of_rows else seen)
        and all(_explains(mistake.layer, answer, o, is_centred) for o in told)
    )


CHOICES = 2
"""More guesses that explain as much are not named."""


def _either(guesses: Iterable[str]) -> str:
    """Return the guesses of which nothing that was observed decides."""
    return ", or ".join(list(dict.fromkeys(guesses))[:CHOICES])


def _of_rows(seen: Sequence[Observation]) -> Sequence[Observation]:
    """Return the observations of batches of rows, or all where there are none."""
    return [o for o in seen if len(o.case.axes) == len("NC")] or seen


Formula = Callable[[Observation, Vectors], Array]


def _other_formula(
    answer: str, seen: Sequence[Observation], is_centred: bool, convention: Convention
) -> str:
    """Return the other formulas, of what is remembered or of a gradient, that explain all."""
    told = _of_rows(seen) if answer == "mean" else seen
    return _either(
        guess
        for guess, formula in _formulas(answer, convention.weight)
        if told and all(_is_formula(answer, formula, Vectors(o.case, is_centred), o) for o in told)
    )


def _formulas(answer: str, weight: float) -> list[tuple[str, Formula]]:
    """Return the formulas that people have for a closed form by mistake, and their names."""
    named: dict[str, list[tuple[str, Formula]]] = {
        "ez": [(guess, partial(_evaluated, evaluate)) for guess, evaluate in EVALUATIONS],
        "ex": [("the gradient of training", lambda _, v: _sum(terms("x", v)))],
        "x": [(guess, partial(_of_vectors, slope)) for guess, slope in WRONG_SLOPES],
        "mean": [(guess, partial(_moved_mean, mean, weight)) for guess, mean in MEANS],
        "variance": [(guess, partial(_moved_variance, way, weight)) for guess, way in VARIANCES],
    }
    for sums, others in SUMMANDS.items():
        named[sums] = [(guess, partial(_of_sum, summands)) for guess, summands in others]
        named[sums] += [
            (f"the sum is {which} {name}", partial(_of_part, sums, axis, part))
            for axis, name in AXES.items()
            for which, part in PARTS
        ]
    return named.get(answer, [])


def _of_vectors(slope: Gradient, _: Observation, v: Vectors) -> Array:
    return slope(v)


def _evaluated(evaluate: Evaluated, _: Observation, v: Vectors) -> Array:
    yhat = evaluate(v.at["x"], v.at["mean"], v.at["variance"], v.eps)
    return v.at["gamma"] * yhat + v.at["beta"]


def _moved_mean(mean: Callable[[Array], Array], weight: float, _: Observation, v: Vectors) -> Array:
    return (1 - weight) * v.at["mean"][0] + weight * mean(v.at["x"])


def _moved_variance(towards: Remembered, weight: float, _: Observation, v: Vectors) -> Array:
    at = v.at
    mean = (1 - weight) * at["mean"][0] + weight * at["x"].mean(axis=0)
    return (1 - weight) * at["variance"][0] + weight * towards(at["x"], mean, at["gamma"], v.eps)


def _of_sum(summands: Gradient, _: Observation, v: Vectors) -> Array:
    return v.summed(summands(v))


AXES = {0: "samples", -1: "places of the last axis", 1: "places of the first axis"}
"""Of the array with its channels left out: the samples come first."""
PARTS: tuple[tuple[str, slice], ...] = (
    ("of the first of the", slice(1)),
    ("of the last of the", slice(-1, None)),
    ("without the last of the", slice(-1)),
    ("without the first of the", slice(1, None)),
)


def _of_part(answer: str, axis: int, part: slice, seen: Observation, v: Vectors) -> Array:
    """Return the sum of a parameter's gradient over a part of the entries that share it."""
    case = seen.case
    products = v.at["g"] * v.yhat if answer == "gamma" else v.at["g"]
    array = np.empty(case.place.shape)
    array.ravel()[case.place.statistics] = products
    by_channel = np.moveaxis(array, case.axes.index("C"), -1)
    at = axis if axis >= 0 else by_channel.ndim - 1 + axis
    if by_channel.ndim < 3 and axis:
        return np.full(by_channel.shape[-1], np.nan)
    taken = (*(slice(None),) * at, part)
    return by_channel[taken].reshape(-1, by_channel.shape[-1]).sum(axis=0)


def _is_formula(answer: str, formula: Formula, v: Vectors, observation: Observation) -> bool:
    with np.errstate(all="ignore"):
        value = formula(observation, v)
        output = _compared(observation, answer)
        right = _sum(terms(answer, v))
        return _is_like(output, value, right.reshape(output.shape), observation.case.dtype)


def _is_like(output: Array, value: Array, right: Array, dtype: str) -> bool:
    """Whether an output is that of a wrong layer, and nearer to it than to the right one's."""
    is_used = np.isfinite(output) & np.isfinite(value)
    if not is_used.any():
        return bool(not np.isfinite(output).any())
    away = np.linalg.norm((output - value)[is_used])
    size = max(np.linalg.norm(part[is_used & np.isfinite(part)]) for part in (value, right))
    return bool(away <= LIKE[dtype] * size and 2 * away < np.linalg.norm((output - right)[is_used]))


def _explains(layer: Layer, answer: str, observation: Observation, is_centred: bool) -> bool:
    """Whether an output is that of a wrong layer, and nearer to it than to the right one's."""
    output, v = _compared(observation, answer), Vectors(observation.case, is_centred=True)
    with np.errstate(all="ignore"):
        value = _derived(layer, answer, v)
        right = _derived(RIGHT if is_centred else RMS_RIGHT, answer, v)
        return _is_like(output, value, right, observation.case.dtype)


def _derived(layer: Layer, answer: str, v: Vectors) -> Array:
    """Return the output that a wrong layer has, by complex steps."""
    at = v.at
    point = at["x"], at["gamma"], at["beta"]
    if answer == "z":
        return layer(*point, v.eps)
    if answer == "dz":
        along = at["u"], at["a"], at["b"]
        x, gamma, beta = (p + 1j * STEP * d for p, d in zip(point, along, strict=True))
        return np.imag(layer(x, gamma, beta, v.eps)) / STEP
    if answer == "x":
        return np.stack([_slope(layer, v, row) for row in range(v.m)])
    which = ("gamma", "beta").index(answer) + 1
    x, gamma, beta = (p + 1j * STEP * (k == which) for k, p in enumerate(point))
    return v.summed(at["g"] * np.imag(layer(x, gamma, beta, v.eps)) / STEP)


def _slope(layer: Layer, v: Vectors, row: int) -> Array:
    """Return the gradient in the entries of one row; units do not interact."""
    x = v.at["x"].astype(complex)
    x[row] += 1j * STEP
    moved = layer(x, v.at["gamma"], v.at["beta"], v.eps)
    return np.sum(v.at["g"] * np.imag(moved) / STEP, axis=0)
