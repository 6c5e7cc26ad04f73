"""Keras: the arrays and derivatives of its backend, which KERAS_BACKEND names."""

from __future__ import annotations

import importlib
from typing import Any

import keras

from verify.conform.adapters import Adapter, AdapterError

loaded_by = "keras"


def adapter(device: str = "") -> Adapter:
    """Return the adapter of Keras's backend, under both names."""
    backend = keras.backend.backend()
    if backend not in ("jax", "tensorflow", "torch", "numpy"):
        raise AdapterError(
            f"Keras runs on {backend!r} here; set KERAS_BACKEND to jax, tensorflow, torch or numpy"
        )
    # By name: one backend of several is installed.
    inner: Any = importlib.import_module(f"verify.conform.adapters.{backend}").adapter(device)
    inner.name = f"keras on {inner.name}"
    inner.version = f"{keras.__version__} on {inner.version}"
    return inner
