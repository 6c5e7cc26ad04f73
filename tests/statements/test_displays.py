"""What an operation is of is displayed, and is told from what the whole of it is combined with."""

from importlib import import_module
from inspect import Parameter, signature
from pkgutil import walk_packages

import theory
from theory.language.definitions import sides_of_each
from theory.language.expression import QUOTIENT, Apply, Letter, Operation, Primitive, Sort, walk
from theory.language.latex import AS_IT_IS, latex
from verify.engine import CLAIMS

BY_POSITION = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD
PRODUCTS = {r"a^\top b", "a b", "X_{a} b", r"\operatorname{diag}(b, 1, \dots, 1) a"}
"""By a number these are the same whether one factor of theirs is multiplied or all is."""
SUMS = {r"a + b \max a + c"}
"""To add to the last term of these is to add to all."""


def operations():
    """Return the operations of the library's modules and of its statements, each once."""
    names = (module.name for module in walk_packages(theory.__path__, "theory."))
    modules = [import_module(name) for name in names if not name.startswith("theory.nn")]
    in_modules = (value for module in modules for value in vars(module).values())
    nodes = walk(*(side for claim in CLAIMS for side in sides_of_each(claim.said)))
    in_claims = (node.operation for node in nodes if isinstance(node, Apply))
    found = dict.fromkeys(x for x in (*in_modules, *in_claims) if isinstance(x, Operation))
    return [x for x in found if x.latex not in ("", AS_IT_IS) and x is not QUOTIENT]


def sorts_of(operation):
    """Return the sorts of operands; vectors, as many as its meaning takes, where any will do."""
    if operation.takes is not None:
        return operation.takes
    every = signature(operation.meaning).parameters.values()
    taken = [p for p in every if p.kind in BY_POSITION and p.default is Parameter.empty]
    return (Sort.VECTOR,) * (len(taken) - isinstance(operation, Primitive))


def operands_of(operation):
    """Return a letter for each operand."""
    named = zip("abcdefgh", sorts_of(operation), strict=False)
    return [Letter(name, name, sort) for name, sort in named]


def with_one_other(operation, change):
    """Yield the operation with one operand changed."""
    operands = operands_of(operation)
    for place, operand in enumerate(operands):
        yield operation(*operands[:place], change(operand), *operands[place + 1 :])


def alike(change):
    """Return what displays alike whether one operand is changed or all of it."""
    return {
        latex(whole)
        for operation in operations()
        for whole in [operation(*operands_of(operation))]
        for one in with_one_other(operation, change)
        if one not in (whole, change(whole)) and latex(one) == latex(change(whole))
    }


def test_an_operand_that_is_exchanged_for_another_letter_is_displayed():
    hidden = {
        latex(exchanged)
        for operation in operations()
        for exchanged in with_one_other(operation, lambda letter: Letter("z", "z", letter.sort))
        if latex(exchanged) == latex(operation(*operands_of(operation)))
    }
    assert hidden == set()


def test_an_operation_that_is_multiplied_is_told_from_one_of_a_product():
    assert alike(lambda x: x * Letter("z", "z")) == PRODUCTS


def test_an_operation_to_which_is_added_is_told_from_one_of_a_sum():
    assert alike(lambda x: x + Letter("z", "z", x.sort)) == SUMS


def test_an_operation_that_is_squared_is_told_from_one_of_a_square():
    assert alike(lambda x: x**2 if x.sort is Sort.NUMBER else x) == set()
