"""A picture that Matplotlib drew, without what no screen shows: digits, names, turns by nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, pairwise, product
from string import ascii_lowercase

from verify.site.frame import without_indentation
from verify.site.numbers import tightly

_PLACE = re.compile(r' (?:d|x|y|width|height)="[^"]*"')
_BEYOND_A_TENTH = re.compile(r"(\.\d)\d+")
_ZERO = re.compile(r"(\d)\.0(?!\d)")
_POINTS = re.compile(r"M [-\d. ]+\n(?:L [-\d. ]+\n)+")
_SAYS_NOTHING = re.compile(
    r' id="[A-Za-z0-9.]+_\d+"| transform="rotate\(-?0 [^"]*\)"|<!--.*?-->\n?', re.DOTALL
)
_GROUP = re.compile(r"\s*(<g(?: [^>]*)?(?<!/)>|</g>)")
_NAMED = re.compile(r' id="([mp][0-9a-f]{10})"')
_NAME = re.compile(r'((?: id="|#))([mp][0-9a-f]{10})\b')
_LOOK = re.compile(r' style="([^"<>&{}]*)"')
_SHEET = "</style>"


def shorter(picture: str) -> str:
    r"""Return an SVG document with places to a tenth of a pixel, and not indented.

    What is named is named shortly, and what several elements look like is said once.

    >>> shorter('<g id="axes_1">\n  <path d="M 2.345678 1.5 \nL 3.0123 4 \n" id="pa"/>\n</g>')
    '\n<path d="M2.3 1.5l.7 2.5" id="pa"/>'
    >>> shorter('<path d="M 1 1 \nQ 2 1 2 2 \nL 2 3 \nL 2 4 \nz\n"/>')
    '<path d="M 1 1 \nQ 2 1 2 2 \nL 2 3 \nL 2 4 \nz\n"/>'
    >>> shorter('<text x="0.123" transform="rotate(-0 48.6 252.3)">0.12345</text>')
    '<text x="0.1">0.12345</text>'
    """
    plain = _SAYS_NOTHING.sub("", picture)
    places = _PLACE.sub(lambda found: _shorter_place(found.group()), plain)
    return without_indentation(_looks_once(_named_shortly(_ungrouped(places))))


def _shorter_place(place: str) -> str:
    short = _ZERO.sub(r"\1", _BEYOND_A_TENTH.sub(r"\1", place))
    return _POINTS.sub(lambda found: _lines(found.group()), short)


def _lines(path: str) -> str:
    r"""Return lines from point to point by their steps, which are shorter than places.

    >>> _lines("M 1 2 \nL 1 3.5 \nL 4 3.5 \nL 4 3.5 \nL 5 3 \n")
    'M1 2v1.5h3l1-.5'
    """
    tenths = [
        [round(10 * float(number)) for number in line[2:].split()] for line in path.splitlines()
    ]
    steps = (_step(x - before_x, y - before_y) for (before_x, before_y), (x, y) in pairwise(tenths))
    return "M" + " ".join(path.splitlines()[0][2:].split()) + "".join(steps)


def _step(across: int, down: int) -> str:
    """Return a line by so many tenths; one along an axis by one number."""
    if across and down:
        return f"l{tightly([across / 10, down / 10])}"
    if across:
        return f"h{tightly([across / 10])}"
    return f"v{tightly([down / 10])}" if down else ""


def _ungrouped(picture: str) -> str:
    """Leave out groups of which nothing is said.

    >>> _ungrouped('<g><g clip-path="url(#a)"><g><path/></g></g></g>')
    '<g clip-path="url(#a)"><path/></g>'
    """
    open_: list[bool] = []
    return "".join(part for part in _GROUP.split(picture) if _is_kept(part, open_))


def _is_kept(part: str, open_: list[bool]) -> bool:
    """Whether a part says something, given whether the groups around it do."""
    if part == "</g>":
        return not open_ or open_.pop()
    if part.startswith("<g"):
        open_.append(part != "<g>")
        return open_[-1]
    return True


def _named_shortly(picture: str) -> str:
    """Number what Matplotlib names by ten digits.

    >>> _named_shortly('<path id="m8c8cc7b138"/><use xlink:href="#m8c8cc7b138"/>')
    '<path id="m0"/><use xlink:href="#m0"/>'
    """
    names = dict.fromkeys(_NAMED.findall(picture))
    numbers = {name: f"{name[0]}{i}" for i, name in enumerate(names)}
    return _NAME.sub(lambda found: found[1] + numbers.get(found[2], found[2]), picture)


def _looks_once(picture: str) -> str:
    """Say in the style sheet, if there is one, what elements look like.

    >>> _looks_once('<style>*{}</style><path style="fill: #fff; opacity: 0.5"/>')
    '<style>*{}.a{fill:#fff;opacity:0.5}</style><path class="a"/>'
    """
    if _SHEET not in picture:
        return picture
    looks = dict.fromkeys(_LOOK.findall(picture))
    classes = dict(zip(looks, _words(), strict=False))
    sheet = "".join(f".{name}{{{_tight(look)}}}" for look, name in classes.items())
    short = _LOOK.sub(lambda found: f' class="{classes[found[1]]}"', picture)
    return short.replace(_SHEET, sheet + _SHEET, 1)


def _words() -> Iterator[str]:
    """Yield the shortest words."""
    return ("".join(word) for size in count(1) for word in product(ascii_lowercase, repeat=size))


def _tight(look: str) -> str:
    return look.replace(": ", ":").replace("; ", ";")
