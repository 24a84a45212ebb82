"""The types of the arrays that kernels take and give, by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Int16s = NDArray[np.int16]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]
"""Words of bits: marks of sets, states of random streams."""
Codes = NDArray[np.int32]
"""Categories by their number."""
