r"""Reading the pickles of CIFAR without running anything that they name.

A pickle is a program: it may call whatever it names.  These hold a dictionary of lists and of one
NumPy array of bytes, so the names that build an array are given stand-ins that only remember what
they are told, and any other name is refused.  NumPy itself is never called.

Source: https://docs.python.org/3/library/pickle.html#restricting-globals
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from verify.datasets.dataset import DataError

NEWEST_PROTOCOL = 4
"""Later ones may take buffers from outside."""


class PlainArray:
    """What a pickle says of an array."""

    def __init__(self, *_: object):
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def as_bytes(self, shape: tuple[int, int]) -> Tensor:
        """Return the array as uint8 of a shape.

        Raises:
            DataError: it is an array of something else, of another shape, or shorter.
        """
        try:
            _, found, kind, is_fortran, content = self.state
        except (TypeError, ValueError):
            raise DataError("an array without content") from None
        if not (isinstance(kind, PlainType) and kind.code in (b"u1", "u1", b"uint8", "uint8")):
            raise DataError("an array that is not of unsigned bytes")
        if found != shape or is_fortran or not isinstance(content, bytes):
            raise DataError(f"an array of shape {found}, expected {shape}")
        if len(content) != shape[0] * shape[1]:
            raise DataError(f"an array of {len(content)} bytes, expected {shape[0] * shape[1]}")
        return torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(shape)


class PlainType:
    """What a pickle says of the type of an array's entries."""

    def __init__(self, code: object = None, *_: object):
        self.code = code

    def __setstate__(self, state: object) -> None:
        """Ignore the byte order, which a byte does not have."""


class PlainBytes:
    """Bytes that a pickle of Python 3 writes as text."""

    def __new__(cls, text: object, encoding: object) -> bytes:  # type: ignore[misc]
        """Return the bytes, in the one encoding that is used for them."""
        if not isinstance(text, str) or encoding not in ("latin1", b"latin1"):
            raise pickle.UnpicklingError(f"it has text in {encoding!r}")
        return text.encode("latin1")

    def __setstate__(self, state: object) -> None:
        """Let nothing be set."""


ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): PlainArray,
    ("numpy._core.multiarray", "_reconstruct"): PlainArray,
    ("numpy", "ndarray"): PlainArray,
    ("numpy", "dtype"): PlainType,
    ("_codecs", "encode"): PlainBytes,
}
"""What stands in for each name that a pickle of an array of bytes has: classes whose instances
take a state, so that nothing can be set on anything that outlives the reading."""


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return what stands in for a name; refuse any that an array of bytes does not need."""
        if (module, name) in ALLOWED:
            return ALLOWED[module, name]
        raise pickle.UnpicklingError(f"it names {module}.{name}, which was not called")

    def persistent_load(self, pid: object) -> Any:
        """Refuse what is kept outside of the file."""
        raise pickle.UnpicklingError("it names something outside of the file")


def read_dictionary(file: Path) -> dict[bytes, Any]:
    """Return the dictionary that a pickle of Python 2 or 3 holds, arrays as :class:`PlainArray`.

    Raises:
        DataError: the file cannot be read, is no pickle, names something else than an array of
            bytes needs, or holds no dictionary.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None
    if content[:1] == b"\x80" and content[1:2] > bytes([NEWEST_PROTOCOL]):
        raise DataError(f"{file} is no pickle of protocol {NEWEST_PROTOCOL} or less; get it again")
    try:
        found = _PlainUnpickler(io.BytesIO(content), encoding="bytes").load()
    except MemoryError:
        raise DataError(f"{file} asks for more memory than there is; get it again") from None
    except Exception as error:  # a damaged pickle may raise any, says pickle's own manual
        raise DataError(f"{file} is no pickle of arrays of bytes: {error}; get it again") from None
    if not isinstance(found, dict):
        raise DataError(f"{file} holds a {type(found).__name__}; expected a dictionary")
    return {key if isinstance(key, bytes) else str(key).encode(): v for key, v in found.items()}
