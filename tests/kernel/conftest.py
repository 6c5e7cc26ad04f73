"""Coq, and the part of the library that exported statements need, where Coq is installed."""

import os

import pytest
from planted_proofs import BUILDS

from verify.kernel import coq
from verify.kernel.compilation import Compilation
from verify.kernel.theorems import sources

NEEDED = (
    "Vectors",
    "Calculus",
    "Layer",
    "Derivatives",
    "Abstract",
    "FieldEquation",
    "Algebra",
    "Tactics",
)


@pytest.fixture(scope="session")
def compiled_library():
    """The installation, and the folder where what exported statements need is compiled."""
    try:
        installed = coq.find()
    except coq.CoqMissingError as error:
        pytest.skip(str(error))
    needed = {file: text for file, text in sources(coq.LIBRARY).items() if file[:-2] in NEEDED}
    found = list(Compilation(installed, BUILDS, needed).run(os.cpu_count() or 1))
    assert [f.error for f in found if f.error] == []
    return installed, BUILDS
