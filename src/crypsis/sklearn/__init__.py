"""Masking methods as scikit-learn transformers; needs the extra ``crypsis[sklearn]``."""

from crypsis.sklearn.generalisers import LatticeGeneraliser, LocalRecoder
from crypsis.sklearn.microaggregator import Microaggregator
from crypsis.sklearn.randomisers import Pram, RankSwapper

__all__ = ["LatticeGeneraliser", "LocalRecoder", "Microaggregator", "Pram", "RankSwapper"]
