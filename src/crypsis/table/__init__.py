"""Tables: attributes, hierarchies, equivalence classes, and the files and frames they are read from."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.table.attribute import Attribute, Kind, Role
    from crypsis.table.builders import build_hierarchy
    from crypsis.table.example import example, example_pair
    from crypsis.table.files import read_hierarchy, read_table, write_table
    from crypsis.table.frames import wrap
    from crypsis.table.hierarchy import Hierarchy
    from crypsis.table.profile import Profile, profile
    from crypsis.table.restoring import to_frame
    from crypsis.table.table import Table

__all__ = [
    "Attribute",
    "Hierarchy",
    "Kind",
    "Profile",
    "Role",
    "Table",
    "build_hierarchy",
    "example",
    "example_pair",
    "profile",
    "read_hierarchy",
    "read_table",
    "to_frame",
    "wrap",
    "write_table",
]

load_when_used(__name__)
