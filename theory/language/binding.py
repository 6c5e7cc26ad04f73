r"""How strongly LaTeX holds together, by what it looks like.

Brackets with what they hold count as one symbol, and so does a symbol with its accent, its
subscripts, its superscript and its argument.

>>> [binding_of(tex).name for tex in (r"\hat y_{ij}(p)", "k^*", r"\frac{a}{b}", "H u", "|a| - b")]
['ATOM', 'POWER', 'POWER', 'PRODUCT', 'SUM']
>>> binding_of(r"a \sum_i \|f_i\|^2").name, binding_of(r"a \max\{b, c\}").name
('OPERATOR', 'PRODUCT')
"""

from __future__ import annotations

import re
from functools import lru_cache

from theory.language.expression import Binding

_AT_A_VALUE = re.compile(r"\\[bB]igg?\|")
_SIZE = re.compile(r"\\(?:left|right|[bB]igg?)(?![a-zA-Z])")
_SPACE = re.compile(r"\s|\\[,:;! ]")
_AROUND_ONE = re.compile(r"\{(\\[a-zA-Z]+|[^\\{}])\}")
_BRACKETS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"\\begin\{\w+\}(?:(?!\\begin).)*?\\end\{\w+\}",
        r"\{[^{}]*\}",
        r"\([^()]*\)|\[[^][]*\]|\\langle(?:(?!\\langle).)*?\\rangle",
    )
)
"""From what may hold the next to what may not."""
_BARS = re.compile(r"\\\|.*?\\\||\|[^|]*\|")
_SCRIPT = r"[_^](?:°|\\[a-zA-Z]+|.)"
_SYMBOL = re.compile(
    r"(?:\\(?:hat|bar|tilde|overline|math\w+|operatorname|text|[dt]?frac)(?![a-zA-Z])\s*)?"
    rf"(?:\\[a-zA-Z]+|\d+|[a-zA-Z#°¦])(?:°|{_SCRIPT}|')*"
)
_POWER = re.compile(r".*\^(?:°|\\[a-zA-Z]+|.)'*|\\[dt]?frac.*", re.DOTALL)
_OPERATOR = re.compile(
    r"\\(?:sum|prod|int|lim|max|min|sup|inf|log|ln|exp|sin|cos|tan)(?![a-zA-Z°])"
)


@lru_cache(maxsize=2**14)
def as_seen(tex: str) -> str:
    r"""Return LaTeX without what does not show: spaces, sizes, braces around one symbol.

    >>> as_seen(r"\hat{y}_{1} \left(x\right)") == as_seen(r"\hat y_1 (x)")
    True
    """
    return _AROUND_ONE.sub(r"\1", _SPACE.sub("", _SIZE.sub("", tex)))


@lru_cache(maxsize=2**14)
def outside_brackets(tex: str) -> str:
    r"""Return LaTeX with a sign for each of its brackets and what they hold; bars stay.

    >>> outside_brackets(r"|a| \left(b - |c|\right)")
    '|a| °'
    """
    tex = _SIZE.sub("", _AT_A_VALUE.sub("", tex)).replace(r"\{", "(").replace(r"\}", ")")
    for brackets in _BRACKETS:
        found = 1
        while found:
            tex, found = brackets.subn("°", tex)
    return tex


@lru_cache(maxsize=2**14)
def binding_of(tex: str) -> Binding:
    """Return how strongly LaTeX holds together."""
    outside = _BARS.sub("¦", outside_brackets(tex))
    if re.search(r"[-+]|\\pm", re.sub(_SCRIPT, "", outside)):
        return Binding.SUM
    symbols = _SYMBOL.findall(outside)
    if len(symbols) > 1:
        return Binding.OPERATOR if any(map(_OPERATOR.match, symbols)) else Binding.PRODUCT
    return Binding.POWER if _POWER.fullmatch(outside) else Binding.ATOM
