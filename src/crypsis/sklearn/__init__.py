"""Masking methods as scikit-learn transformers; needs the extra ``crypsis[sklearn]``."""

import warnings
from typing import Any

from crypsis.sklearn.transformers import LatticeGeneraliser, LocalRecoder, Microaggregator, PostRandomiser, RankSwapper

__all__ = ["LatticeGeneraliser", "LocalRecoder", "Microaggregator", "PostRandomiser", "RankSwapper"]


def __getattr__(name: str) -> Any:
    """The former name of `PostRandomiser`, which `crypsis.Pram` has, until version 0.4."""
    if name == "Pram":
        warnings.warn(
            "crypsis.sklearn.Pram is called PostRandomiser, since crypsis.Pram is the masking method; the old name "
            "goes with version 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        return PostRandomiser
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
