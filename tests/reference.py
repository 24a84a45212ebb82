"""Where the reference data lies: the folder named by CRYPSIS_DATA, else ../shared/data beside the repository.

The data may not be shipped with the project. Without it the tests that need it say so and step aside,
unless CRYPSIS_DATA_REQUIRED is set (as in CI), where a missing file is a failure.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

EIA_COLUMNS = (
    "UTILITYID RESREVENUE RESSALES COMREVENUE COMSALES INDREVENUE INDSALES OTHREVENUE OTHRSALES TOTREVENUE TOTSALES"
).split()


def reference(name: str) -> Path:
    """Path of a reference file, e.g. 'census.csv' or 'dgh/adult_age.csv'."""
    return _found(_folder() / name, name)


def conformance(name: str) -> Path:
    """Path of a file of published or recomputed figures; their folder lies beside that of the data."""
    return _found(_folder().resolve().parent / "conformance" / name, name)


def _folder() -> Path:
    named = os.environ.get("CRYPSIS_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def _found(path: Path, name: str) -> Path:
    if not path.is_file():
        sentence = f"reference data {name!r} is not at hand; set CRYPSIS_DATA to the folder that holds it"
        if os.environ.get("CRYPSIS_DATA_REQUIRED"):
            raise FileNotFoundError(sentence)
        pytest.skip(sentence, allow_module_level=True)
    return path


def numeric(name: str, columns: list[str] | None = None) -> NDArray[np.float64]:
    """A purely numeric reference file, or some of its columns, as an array."""
    with reference(name).open() as file:
        header = file.readline().strip().split(",")
        chosen = [header.index(column) for column in (columns or header)]
        return np.loadtxt(file, delimiter=",", usecols=chosen, quotechar='"')


def standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """z-scores with the population deviation; constant columns become zero."""
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
