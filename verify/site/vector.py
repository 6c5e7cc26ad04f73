"""A picture that Matplotlib drew, without what no screen shows: digits, names, turns by nothing."""

from __future__ import annotations

import re

from verify.site.frame import without_indentation

_PLACE = re.compile(r' (?:d|x|y|width|height)="[^"]*"')
_BEYOND_A_TENTH = re.compile(r"(\.\d)\d+")
_POINTS = re.compile(r"[ML] [-\d. ]+\n(?:L [-\d. ]+\n)+")
_NAME_OR_TURN = re.compile(r' id="[A-Za-z0-9]+_\d+"| transform="rotate\(-?0 [^"]*\)"')


def shorter(picture: str) -> str:
    r"""Return an SVG document with places to a tenth of a pixel, and not indented.

    A point that follows a point is on a line with it, also where nothing says so.

    >>> shorter('<g id="axes_1">\n  <path d="M 2.345678 1.5 \nL 3.0123 4 \n" id="p0.12345"/>\n</g>')
    '<g>\n<path d="M 2.3 1.5\n3.0 4 \n" id="p0.12345"/>\n</g>'
    >>> shorter('<path d="M 1 1 \nQ 2 1 2 2 \nL 2 3 \nL 2 4 \nz\n"/>')
    '<path d="M 1 1 \nQ 2 1 2 2 \nL 2 3\n2 4 \nz\n"/>'
    >>> shorter('<text x="0.123" transform="rotate(-0 48.6 252.3)">0.12345</text>')
    '<text x="0.1">0.12345</text>'
    """
    places = _PLACE.sub(lambda found: _shorter_place(found.group()), picture)
    return without_indentation(_NAME_OR_TURN.sub("", places))


def _shorter_place(place: str) -> str:
    return _POINTS.sub(
        lambda found: found.group().replace(" \nL ", "\n"), _BEYOND_A_TENTH.sub(r"\1", place)
    )
