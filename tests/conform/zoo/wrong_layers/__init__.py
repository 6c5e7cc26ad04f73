"""Normalisation layers with one planted fault each, and what a right diagnosis says of it."""

from __future__ import annotations

from wrong_layers.corners import FAULTS as CORNERS
from wrong_layers.crashing import FAULTS as CRASHING
from wrong_layers.families import FAULTS as FAMILIES
from wrong_layers.fault import Fault
from wrong_layers.first_derivatives import FAULTS as FIRST_DERIVATIVES
from wrong_layers.forward import FAULTS as FORWARD
from wrong_layers.higher_derivatives import FAULTS as HIGHER_DERIVATIVES
from wrong_layers.kernel_authors import FAULTS as KERNEL_AUTHORS
from wrong_layers.kernels import FAULTS as KERNELS
from wrong_layers.lacking_cases import FAULTS as LACKING_CASES
from wrong_layers.large_arrays import FAULTS as LARGE_ARRAYS
from wrong_layers.memory import FAULTS as MEMORY
from wrong_layers.numpy_pairs import FAULTS as NUMPY_PAIRS
from wrong_layers.overlooked import FAULTS as OVERLOOKED
from wrong_layers.precision import FAULTS as PRECISION
from wrong_layers.reported import FAULTS as REPORTED
from wrong_layers.running import FAULTS as RUNNING
from wrong_layers.strangers import FAULTS as STRANGERS
from wrong_layers.under_vmap import FAULTS as UNDER_VMAP
from wrong_layers.usual import FAULTS as USUAL

FAULTS: tuple[Fault, ...] = (
    *FORWARD,
    *FIRST_DERIVATIVES,
    *HIGHER_DERIVATIVES,
    *RUNNING,
    *PRECISION,
    *MEMORY,
    *FAMILIES,
    *NUMPY_PAIRS,
    *KERNELS,
    *CORNERS,
    *STRANGERS,
    *OVERLOOKED,
    *UNDER_VMAP,
    *CRASHING,
    *LACKING_CASES,
    *KERNEL_AUTHORS,
    *LARGE_ARRAYS,
    *REPORTED,
    *USUAL,
)
