"""An error that a mode ends in: a refusal of who does not have the mode, or a crash."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from verify.conform.installed import is_installed
from verify.conform.modes import Mode

OURS = str(Path(__file__).parent)
EVERYBODYS = (
    r"not (yet |currently )?(implemented|supported|differentiable)|unimplemented|\bNYI\b",
    r"(does|do) not .*support|(has|have) no (\w+ )?(derivative|gradient|vjp|jvp)",
)
"""What frameworks, and authors who refuse a mode, say of one that they do not have."""
OF_PASSES = ("output changed", "gradient twice")
"""Modes that a pass may refuse for what has become of it since."""
MISSPELT = (AttributeError, NameError)
"""What nobody raises to refuse."""
BROKEN = (*MISSPELT, LookupError, TypeError, ZeroDivisionError)
"""What Python says of code that is wrong; of these only the framework's words are a refusal."""


def is_refusal(error: Exception, mode: Mode, said_by: tuple[str, ...]) -> bool:
    """Whether an error says that there is no such mode; else it is a crash.

    A first derivative is what a layer is for: nothing else but a refusal in words is one there.
    Of a further derivative only Python's own errors in code that is not installed are crashes;
    what fails besides, as under vmap, says that the layer takes no part in it.

    Args:
        error: what was raised.
        mode: where.
        said_by: regular expressions of the framework's own refusals.
    """
    words = said_by if isinstance(error, BROKEN) else (*EVERYBODYS, *said_by)
    is_said = not isinstance(error, MISSPELT) and re.search("|".join(words) or "$.", str(error))
    if is_said or isinstance(error, NotImplementedError):
        return True
    if mode.order == 0 or mode.name in OF_PASSES or mode.name.startswith("vmap"):
        return True
    return mode.order > 1 and not (isinstance(error, BROKEN) and place(error))


def place(error: Exception) -> str:
    """Return the last place of the layer's own code that an error went through, if any."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not (f.filename.startswith(OURS) or is_installed(f.filename))]
    return f"{Path(own[-1].filename).name}, line {own[-1].lineno}" if own else ""
