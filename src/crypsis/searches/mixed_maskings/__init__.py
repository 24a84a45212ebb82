"""Masking of mixed files: values exchanged between records until attacks find few of them."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.searches.mixed_maskings.mixed_masking_search import MixedMaskingSearch

__all__ = ["MixedMaskingSearch"]

load_when_used(__name__)
