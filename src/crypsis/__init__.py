"""Crypsis: anonymise microdata by evolution.

The public names are loaded when first used, so that `import crypsis` and `crypsis --help` stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crypsis.version import __version__

if TYPE_CHECKING:
    from crypsis.errors import CrypsisError, EngineError, PlanError, ReleaseRefused, SearchError, TableError
    from crypsis.masking import (
        BottomCoding,
        GlobalRecoding,
        Microaggregation,
        Noise,
        Pram,
        RankSwapping,
        TopCoding,
        methods,
        partitioners,
    )
    from crypsis.measures import Assessment, Reading, assess
    from crypsis.plan import Plan
    from crypsis.privacy import KAnonymity, LDiversity, TCloseness, Verdict, models
    from crypsis.release import publish, verify
    from crypsis.run import Front, Run, evolve
    from crypsis.searches.lattices import evaluate_lattice
    from crypsis.searches.partitions import partition
    from crypsis.table import (
        Attribute,
        Hierarchy,
        Kind,
        Role,
        Table,
        build_hierarchy,
        example,
        profile,
        read_hierarchy,
        read_table,
        to_frame,
        wrap,
        write_table,
    )

_HOMES = {
    "Assessment": "crypsis.measures",
    "Attribute": "crypsis.table",
    "BottomCoding": "crypsis.masking",
    "CrypsisError": "crypsis.errors",
    "EngineError": "crypsis.errors",
    "Front": "crypsis.run",
    "GlobalRecoding": "crypsis.masking",
    "Hierarchy": "crypsis.table",
    "KAnonymity": "crypsis.privacy",
    "Kind": "crypsis.table",
    "LDiversity": "crypsis.privacy",
    "Microaggregation": "crypsis.masking",
    "Noise": "crypsis.masking",
    "Plan": "crypsis.plan",
    "PlanError": "crypsis.errors",
    "Pram": "crypsis.masking",
    "RankSwapping": "crypsis.masking",
    "Reading": "crypsis.measures",
    "ReleaseRefused": "crypsis.errors",
    "Role": "crypsis.table",
    "Run": "crypsis.run",
    "SearchError": "crypsis.errors",
    "TCloseness": "crypsis.privacy",
    "Table": "crypsis.table",
    "TableError": "crypsis.errors",
    "TopCoding": "crypsis.masking",
    "Verdict": "crypsis.privacy",
    "assess": "crypsis.measures",
    "build_hierarchy": "crypsis.table",
    "evaluate_lattice": "crypsis.searches.lattices",
    "evolve": "crypsis.run",
    "example": "crypsis.table",
    "methods": "crypsis.masking",
    "models": "crypsis.privacy",
    "partition": "crypsis.searches.partitions",
    "partitioners": "crypsis.masking",
    "profile": "crypsis.table",
    "publish": "crypsis.release",
    "read_hierarchy": "crypsis.table",
    "read_table": "crypsis.table",
    "to_frame": "crypsis.table",
    "verify": "crypsis.release",
    "wrap": "crypsis.table",
    "write_table": "crypsis.table",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'crypsis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
