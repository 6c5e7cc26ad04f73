"""Normalisation layers of frameworks, as they are released: one file a library.

Each file has a tuple ``IMPLEMENTATIONS``; each layer is a plain function of the library's public
interface, whose source is the reproduction that a report prints.
"""
