"""Public names of `crypsis.run`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.run.front import Front as Front
from crypsis.run.search_state import Progress as Progress
from crypsis.run.protect import (
    evolve as evolve,
    protect as protect,
)
from crypsis.run.session import Run as Run
from crypsis.run.choosing import Solution as Solution
