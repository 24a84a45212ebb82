"""GOMM and D-GOMM (Balasch-Masoliver, Muntés-Mulero and Nin 2014): which attributes are microaggregated together."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
