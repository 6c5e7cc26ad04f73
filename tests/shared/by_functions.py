"""Statements and conditions of functions: what a witness must notice whatever a side is made of."""

from dataclasses import replace

from theory.language.expression import Letter, Number, Relation, Says, Sort
from theory.statement import assume


def worth(function, sort=Sort.NUMBER, name="f"):
    """A letter that is worth what a function makes of a subject."""
    return Letter(name, name, sort, function)


def said(sides, relation=Relation.EQUAL, sort=Sort.NUMBER):
    """What is said of two sides, which a function returns."""
    actual, claimed = (
        worth(lambda at, place=place: sides(at)[place], sort, name)
        for place, name in enumerate(("actual", "claimed"))
    )
    return Says(actual, relation, claimed)


def with_constant(claim, constant):
    """The statement on expectations with another constant."""
    return replace(claim, says=claim.says.actual <= worth(lambda entries: constant))


def assuming(words, quantity, sign=Relation.AT_LEAST, impose=None):
    """The condition on the sign of a quantity, which a function returns."""
    return assume(Says(worth(quantity), sign, Number(0)), impose, words=words)
