"""Whether PyTorch can compile here.

>>> can_compile("cuda")  # Triton comes with PyTorch
True
"""

from shutil import which

import torch
from torch.utils.cpp_extension import get_cxx_compiler


def can_compile(device: str | torch.device) -> bool:
    """Whether ``torch.compile`` has what it needs for a device: a C++ compiler for a CPU."""
    return torch.device(device).type != "cpu" or which(get_cxx_compiler()) is not None
