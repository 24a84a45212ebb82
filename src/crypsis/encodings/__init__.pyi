"""Public names of `crypsis.encodings`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.encodings.composite import CompositeEncoding as CompositeEncoding
from crypsis.encodings.encoding import (
    ColumnEncoding as ColumnEncoding,
    Description as Description,
    Encoding as Encoding,
)
from crypsis.encodings.generalisation import (
    LevelEncoding as LevelEncoding,
    RecodingEncoding as RecodingEncoding,
)
from crypsis.encodings.grouping import GroupingEncoding as GroupingEncoding
from crypsis.encodings.households import HouseholdEncoding as HouseholdEncoding
from crypsis.encodings.masked_file import MaskedFileEncoding as MaskedFileEncoding
from crypsis.encodings.partition import PartitionEncoding as PartitionEncoding
