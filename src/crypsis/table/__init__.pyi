"""Public names of `crypsis.table`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.table.attribute import (
    Attribute as Attribute,
    Kind as Kind,
    Role as Role,
)
from crypsis.table.builders import build_hierarchy as build_hierarchy
from crypsis.table.example import (
    example as example,
    example_pair as example_pair,
)
from crypsis.table.files import (
    read_hierarchy as read_hierarchy,
    read_table as read_table,
    write_table as write_table,
)
from crypsis.table.frames import wrap as wrap
from crypsis.table.hierarchy import Hierarchy as Hierarchy
from crypsis.table.profile import (
    Profile as Profile,
    profile as profile,
)
from crypsis.table.frames import to_frame as to_frame
from crypsis.table.table import Table as Table
