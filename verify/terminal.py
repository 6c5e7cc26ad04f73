"""How wide a terminal is."""

from shutil import get_terminal_size

LEAST = 20
"""Columns that a line takes in a narrower terminal, too, which has no room for an indented word."""


def columns(in_a_file: int) -> int:
    """Return the columns of the terminal, or those of a file where there is none."""
    return max(LEAST, get_terminal_size((in_a_file, 0)).columns)
