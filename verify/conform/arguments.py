"""Which argument of a function is x, gamma, beta or eps: by its name, else by its place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Function = Callable[..., Any]
NAMES = {
    "x": ("x", "input", "inputs"),
    "gamma": ("gamma", "weight", "scale"),
    "beta": ("beta", "bias", "shift", "offset"),
    "eps": ("eps", "epsilon"),
}
"""What is meant, and how it may be called; in the order of those that have other names."""
ROLE = {name: role for role, names in NAMES.items() for name in names}
ROLES = tuple(NAMES)


@dataclass(frozen=True)
class Arguments:
    """What a function takes: for each argument its name and what it means, in order."""

    roles: Mapping[str, str]
    by_keyword: frozenset[str] = frozenset()
    """The names of those that are not given by their place."""
    optional: frozenset[str] = frozenset()
    """What may be None, as it is where it is not given."""

    def __contains__(self, role: str) -> bool:
        return role in self.roles.values()

    @property
    def call(self) -> str:
        """The arguments of a call, as code."""
        pairs = self.roles.items()
        return ", ".join(f"{n}={r}" if n in self.by_keyword else r for n, r in pairs)

    def of(self, function: Function) -> Function:
        """Return the function as one of x, gamma, beta and eps."""
        placed = [r for n, r in self.roles.items() if n not in self.by_keyword]
        named = [(n, r) for n, r in self.roles.items() if n in self.by_keyword]

        def called(*values: Any) -> Any:
            given = dict(zip(ROLES, values, strict=True))
            return function(*(given[r] for r in placed), **{n: given[r] for n, r in named})

        return called


AS_THEY_ARE = Arguments({role: role for role in ROLES})
"""x, gamma, beta and eps in this order."""


def arguments(function: Function, after: int = 0) -> Arguments | None:
    """Return what a function takes; None where it cannot be told.

    Args:
        function: a layer, or a backward of its inputs.
        after: so many arguments come before.

    >>> arguments(lambda x, eps, gamma: None).call
    'x, eps, gamma'
    >>> arguments(lambda x, weight=None, momentum=0.1, *, epsilon=1e-5: None).call
    'x, gamma, epsilon=eps'
    >>> arguments(lambda yhat, sigma, gamma: None)
    """
    try:
        taken = list(inspect.signature(function).parameters.values())[after:]
    except (TypeError, ValueError):
        return AS_THEY_ARE
    if any(p.kind is p.VAR_POSITIONAL for p in taken):
        return AS_THEY_ARE
    named = {p.name: ROLE[p.name] for p in taken if p.name in ROLE}
    left = [role for role in ROLES if role not in named.values()]
    roles: dict[str, str] = {}
    by_keyword: set[str] = set()
    optional: set[str] = set()
    skips = False
    for parameter in taken:
        role = named.get(parameter.name) or _by_place(parameter, left)
        if role:
            roles[parameter.name] = role
            is_named = skips or parameter.kind is parameter.KEYWORD_ONLY
            by_keyword |= {parameter.name} if is_named else set()
            optional |= {role} if parameter.default is None else set()
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            return None
        else:
            skips = True
    is_once = len(set(roles.values())) == len(roles)
    found = Arguments(roles, frozenset(by_keyword), frozenset(optional))
    return found if is_once and _is_told(roles, named) else None


def _by_place(parameter: inspect.Parameter, left: list[str]) -> str:
    """Return what an argument of another name means, the next that is left, if it may be that."""
    kinds = (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    if not left or parameter.kind not in kinds:
        return ""
    is_needed = parameter.default is parameter.empty
    usual = float if left[0] == "eps" else type(None)
    return left.pop(0) if is_needed or isinstance(parameter.default, usual) else ""


def _is_told(roles: Mapping[str, str], named: Mapping[str, str]) -> bool:
    """Whether those that have other names stand where one expects them; eps may be anywhere."""
    order = [(ROLES.index(r), n not in named) for n, r in roles.items() if r != "eps"]
    return all(
        (place < other) or not (is_other or is_too)
        for k, (place, is_other) in enumerate(order)
        for other, is_too in order[k + 1 :]
    )
