r"""Statements on convolutions at the sizes of real networks, where no matrix is unfolded.

Each module examines one of them at one layer (:mod:`verify.subjects.convolutions`) and returns
checks; the actual side is PyTorch's own convolution under autograd, the claimed side
:mod:`theory.convolution` in the arrays of any backend.

- :mod:`~verify.convolutions.hessian`: Prop. 9, and what a later Batch Normalization makes of it
- :mod:`~verify.convolutions.statistics`: eq. (19)-(22), Prop. 10
- :mod:`~verify.convolutions.conditioning`: Theorem 4

Source: Lange, Helfrich and Ye 2022, sect. 4 and App. A.
"""
