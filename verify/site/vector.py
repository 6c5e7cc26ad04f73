"""A picture that Matplotlib drew, without the digits that no screen shows."""

from __future__ import annotations

import re

from verify.site.frame import without_indentation

_PLACE = re.compile(r' (?:d|x|y|width|height)="[^"]*"')
_BEYOND_A_TENTH = re.compile(r"(\.\d)\d+")


def shorter(picture: str) -> str:
    r"""Return an SVG document with places to a tenth of a pixel, and not indented.

    >>> shorter('<g>\n  <path d="M 2.345678 1.5" id="0.12345"/>\n  <text x="0.123">0.12345</text>')
    '<g>\n<path d="M 2.3 1.5" id="0.12345"/>\n<text x="0.1">0.12345</text>'
    """
    places = _PLACE.sub(lambda found: _BEYOND_A_TENTH.sub(r"\1", found.group()), picture)
    return without_indentation(places)
