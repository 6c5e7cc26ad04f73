r"""The language that statements are written in.

One expression is the statement: what is displayed is what is checked.

- :mod:`~theory.language.expression`: letters, operations, derivatives, and what is said of two
  sides;
- :mod:`~theory.language.letters`: letters that a subject has a value for;
- :mod:`~theory.language.operations`, :mod:`~theory.language.arrays`: inner products, norms, means;
- :mod:`~theory.language.values`: both sides in any arithmetic;
- :mod:`~theory.language.latex`, :mod:`~theory.language.plain`: how it is displayed, by what
  :mod:`~theory.language.binding` sees of how names hold together;
- :mod:`~theory.language.certificates`: how a slack shows its own sign;
- :mod:`~theory.language.variants`: the wrong formulas that its checks must reject.

Why its own trees, and not those of a library such as pymbolic (2025.1 was tried): there x - y is
x + (-1) y, which is not what a paper prints; an expression has no sort, so that a vector may be
added to a number, and x @ y is none; x <= y is an error; and there is no LaTeX.
"""
