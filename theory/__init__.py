r"""Batch Normalization, its gradient and its Hessian, as formulas that check their input.

Each function here is a formula of :mod:`theory.batchnorm` (statistics of the batch),
:mod:`theory.dense` (the same as matrices) or :mod:`theory.running` (running statistics; named
``running_...`` here) behind :func:`theory.validate.check`, which raises a TypeError or a
ValueError that says what was given, what was expected and what to do.  Arrays of NumPy, CuPy,
PyTorch or another library of the Python array API standard are used as they are: results have
the library, dtype and device of the input.  Importing this package imports none but NumPy.

Complex batches are taken as arguments of analytic functions, as complex steps need them: the
variance is :math:`\langle c, c\rangle/m` without conjugation, so it may vanish, or nearly so, where
c does not, and results there are infinite, an error, or mere roundings.

Index convention: the axes named by ``axis`` are the batch, of m entries; every other axis runs
over units that do not interact.

A batch that can be checked by hand, of mean 1 and variance 1:

>>> import numpy as np
>>> import theory
>>> y = np.array([0.0, 0.0, 2.0, 2.0])
>>> theory.normalize(y)
array([-1., -1.,  1.,  1.])

Let only the first output matter, g = (1, 0, 0, 0).  Fact C.1 of Santurkar et al. 2018 takes from
g its mean 1/4, and yhat times their mean product -1/4:

>>> theory.gradient(y, np.array([1.0, 0.0, 0.0, 0.0]))
array([ 0.5, -0.5,  0. ,  0. ])

>>> theory.gradient(np.array([5.0, 5.0, 5.0]), np.array([1.0, 0.0, 0.0]))
Traceback (most recent call last):
...
ValueError: y of shape (3,) with batch axes (0,) has zero variance and eps = 0, so sigma = 0...
"""

from theory import batchnorm, dense, running
from theory.validate import checked

forward = checked(batchnorm.forward)
normalize = checked(batchnorm.normalize)
jvp = checked(batchnorm.jvp)
gradient = checked(batchnorm.gradient)
hvp = checked(batchnorm.hvp)
curvature = checked(batchnorm.curvature)
gradient_gamma = checked(batchnorm.gradient_gamma)
gradient_beta = checked(batchnorm.gradient_beta)

jacobian = checked(dense.jacobian)
hessian = checked(dense.hessian)
project = checked(dense.project)
projection = checked(dense.projection)

running_forward = checked(running.forward)
running_gradient = checked(running.gradient)
running_hvp = checked(running.hvp)

__all__ = [
    "curvature",
    "forward",
    "gradient",
    "gradient_beta",
    "gradient_gamma",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "normalize",
    "project",
    "projection",
    "running_forward",
    "running_gradient",
    "running_hvp",
]
