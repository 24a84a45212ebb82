"""Masking of mixed files: values exchanged between records until attacks find few of them."""

from crypsis.searches.mixed_maskings.mixed_masking_search import MixedMaskingSearch

__all__ = ["MixedMaskingSearch"]
