"""With how many threads each process computes."""

from __future__ import annotations

import os
import sys


def count() -> int:
    """Return how many threads PyTorch's operations take, asking PyTorch if it is there or must be.

    >>> import torch
    >>> count() == torch.get_num_threads()
    True
    """
    said = os.environ.get("OMP_NUM_THREADS", "")
    is_told = said.isascii() and said.isdigit() and int(said) > 0
    if is_told and "torch" not in sys.modules:
        return int(said)
    import torch  # takes seconds

    return torch.get_num_threads()
