"""How wide a terminal is."""

from shutil import get_terminal_size


def columns(in_a_file: int) -> int:
    """Return the columns of the terminal, or those of a file where there is none."""
    return get_terminal_size((in_a_file, 0)).columns
