r"""The formulas of :mod:`theory.batchnorm`, compiled by PyTorch: the same functions, in few passes.

A formula is a dozen operations, each of which reads and writes arrays as large as the batch; a
compiler makes one loop of those that can share one.  What is compiled is the function whose
identities are proved, not another that was written for speed: a generated kernel in C++ on a CPU,
in Triton on a GPU.

The first call with arguments of new shapes takes seconds.  A C++ compiler is needed on a CPU, and
Triton on a GPU; what is missing is named by PyTorch.  The formulas are unguarded: zero variance
gives NaN.  The function ``hessian_of_loss`` is compiled with the rest, so let it be made of
PyTorch's operations alone.

Index convention and shapes are those of :mod:`theory.batchnorm`.
"""

import torch

from theory import batchnorm

forward = torch.compile(batchnorm.forward)
jvp = torch.compile(batchnorm.jvp)
gradient = torch.compile(batchnorm.gradient)
hvp = torch.compile(batchnorm.hvp)
curvature = torch.compile(batchnorm.curvature)
