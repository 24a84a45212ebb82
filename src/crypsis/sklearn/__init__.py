"""Masking methods as scikit-learn transformers; needs the extra ``crypsis[sklearn]``."""

from crypsis.sklearn.transformers import LatticeGeneraliser, LocalRecoder, Microaggregator, Pram, RankSwapper

__all__ = ["LatticeGeneraliser", "LocalRecoder", "Microaggregator", "Pram", "RankSwapper"]
