"""Normalisation layers of frameworks, as they are released: one file a library.

Each file names its ``ADAPTER`` and has ``IMPLEMENTATIONS``, by the names of their functions; each
layer is a plain function of the library's public interface, whose source is the reproduction that
a report prints.  ``python -m verify conform
verify.conform.implementations.flax:IMPLEMENTATIONS.batch_norm.subject`` examines one.
"""
