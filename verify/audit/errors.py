"""What is said of a network that cannot be audited."""

from collections.abc import Iterator
from contextlib import contextmanager

RAISED_BY = "raised by "
"""What a note on an error begins with that somebody's own code raised."""


class AuditError(ValueError):
    """What was given cannot be audited, with what to do."""


@contextmanager
def raised_by(what: str) -> Iterator[None]:
    """Note on an error of somebody's code whose it is; it stays what it was."""
    try:
        yield
    except AuditError:
        raise
    except SystemExit as error:  # which would end the audit without a word
        raise AuditError(f"{what} raised SystemExit: {error.code}") from error
    except Exception as error:
        error.add_note(RAISED_BY + what)
        raise


def told(error: Exception) -> str:
    """Return who raised an error, and which, in one line; nothing if nobody is noted on it.

    >>> try:
    ...     with raised_by("the model"):
    ...         [][1]
    ... except IndexError as error:
    ...     told(error)
    'the model raised IndexError: list index out of range'
    """
    notes = [note for note in getattr(error, "__notes__", []) if note.startswith(RAISED_BY)]
    return f"{notes[0].removeprefix(RAISED_BY)} raised {named(error)}" if notes else ""


def named(error: Exception) -> str:
    r"""Return an error's class and the first line of what it says.

    >>> named(ValueError("two\nlines")), named(NotImplementedError())
    ('ValueError: two', 'NotImplementedError')
    """
    first, *_ = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
