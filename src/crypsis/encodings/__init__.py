"""Encodings: a genome as a masked table; decoding applies what a search found and never searches."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.encodings.columns import ColumnEncoding
    from crypsis.encodings.composite import CompositeEncoding
    from crypsis.encodings.encoding import Description, Encoding
    from crypsis.encodings.grouping import GroupingEncoding
    from crypsis.encodings.levels import LevelEncoding
    from crypsis.encodings.masked_file import MaskedFileEncoding
    from crypsis.encodings.partition import PartitionEncoding
    from crypsis.encodings.recoding import RecodingEncoding

__all__ = [
    "ColumnEncoding",
    "CompositeEncoding",
    "Description",
    "Encoding",
    "GroupingEncoding",
    "LevelEncoding",
    "MaskedFileEncoding",
    "PartitionEncoding",
    "RecodingEncoding",
]

load_when_used(__name__)
