"""Whether PyTorch can compile here.

>>> can_compile("cuda")  # Triton comes with PyTorch
True
"""

import os
import sys
from shutil import which

import torch


def can_compile(device: str | torch.device) -> bool:
    """Whether ``torch.compile`` has what it needs for a device: a C++ compiler for a CPU.

    It looks for the one that CXX names, or else for g++, on macOS for clang++.
    """
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    return torch.device(device).type != "cpu" or which(compiler) is not None
