"""With how many threads each process computes."""

from __future__ import annotations

import os


def count() -> int:
    """Return how many threads PyTorch's operations take, asking PyTorch only where it must be.

    >>> import torch
    >>> count() == torch.get_num_threads()
    True
    """
    said = os.environ.get("OMP_NUM_THREADS", "")
    if said.isascii() and said.isdigit() and int(said) > 0:
        return int(said)
    import torch  # takes seconds

    return torch.get_num_threads()
