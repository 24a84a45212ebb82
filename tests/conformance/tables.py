"""Small tables on which every registered thing can show what it does."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from crypsis.masking import Generalisation, Microaggregation, Pram
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.example import example
from crypsis.table.table import Table

Place = tuple[str, str, str | None]

_KEYS = Path(__file__).parent / "keys"
"""Files of bytes that stand for secrets."""

CONTEXT: dict[Place, dict[str, Any]] = {
    ("masking method", "microaggregation", None): {"k": 3, "missing": "aggregate"},
    ("masking method", "pram", "damping"): {"form": "two-stage", "theta": 0.8},
    ("measure", "rule-violations", None): {"rule": "age >= 30"},
    ("measure", "table-use", None): {"columns": ("a",)},
    ("measure", "one-to-one-linkage", "seed"): {"sample": 5},
    ("measure", "means-use", None): {"columns": ("a",), "by": ("secret",)},
    ("measure", "means-use", "bins"): {"by": ("b",)},
    ("measure", "estimate-use", None): {"analysis": "mean", "target": "e", "columns": ("secret",)},
    ("measure", "estimate-use", "bins"): {"columns": ("a",)},
    ("measure", "estimate-use", "event"): {
        "analysis": "regression",
        "target": "marital",
        "event": "married",
        "columns": ("age", "hours"),
    },
    ("measure", "correlation-use", None): {"columns": ("a", "c")},
    ("measure", "classifier-use", None): {"columns": ("age", "hours"), "target": "marital"},
    ("measure", "regression-use", None): {"columns": ("c", "secret"), "target": "e"},
    ("masking method", "cell-suppression", None): {"k": 2, "effort": 1},
    ("masking method", "number-rounding", None): {"base": 3.0},
    ("masking method", "record-swapping", None): {"percent": 20.0},
    ("masking method", "sampling", None): {"percent": 50.0},
    ("masking method", "pseudonyms", None): {"columns": ("a", "c"), "key_file": str(_KEYS / "one.key")},
    ("masking method", "date-shifting", None): {"columns": ("a", "b")},
    ("masking method", "generalisation", "columns"): {"level": 1},
    ("masking method", "generalisation", "suppression"): {"level": 2, "suppression": 0.1},
    ("masking method", "generalisation", "rule"): {
        "level": 2,
        "suppression": 0.5,
        "l": 2,
        "columns": ("sex", "district"),
    },
    ("masking method", "generalisation", "k"): {"level": 2, "suppression": 1.0},
    ("masking method", "generalisation", "l"): {"level": 2, "suppression": 1.0},
    ("masking method", "generalisation", "confidential"): {"level": 2, "suppression": 1.0, "l": 3},
    ("masking method", "local-recoding", "confidential"): {"k": 3, "l": 3},
    ("masking method", "local-recoding", "l"): {"loss": "glm"},
    ("masking method", "local-recoding", "effort"): {"loss": "glm"},
    ("partitioner", "genetic", None): {"epochs": 1000},
    ("partitioner", "one-step", None): {"epochs": 100},
    ("partitioner", "two-step", None): {"epochs": 100},
    ("partitioner", "one-step", "solver"): {"macrogroup": 12},
    ("partitioner", "two-step", "solver"): {"macrogroup": 12, "epochs": 1},
    ("partitioner", "blocks", None): {"size": 60},
    ("privacy model", "l-diversity", "c"): {"kind": "recursive"},
    ("privacy model", "l-diversity", "confidential"): {"quasi_identifiers": ("a", "b")},
    ("privacy model", "t-closeness", "confidential"): {"quasi_identifiers": ("a", "b")},
    ("privacy model", "beta-likeness", "confidential"): {"quasi_identifiers": ("a", "b")},
    ("privacy model", "alpha-k-anonymity", "confidential"): {"quasi_identifiers": ("b",)},
    ("privacy model", "delta-presence", None): {"member": "secret", "present": "1"},
    ("privacy model", "delta-presence", "member"): {"quasi_identifiers": ("a", "b")},
    ("privacy model", "delta-presence", "least"): {"most": 1.0},
    ("privacy model", "household-k-anonymity", None): {"household": "secret"},
    ("privacy model", "person-k-anonymity", None): {"person": "secret"},
    ("privacy model", "k-map", None): {"counts": "estimated"},
    ("privacy model", "k-map", "counts"): {"weights": "c"},
    ("privacy model", "k-map", "missing"): {"quasi_identifiers": ("sex", "education")},
    ("privacy model", "k-map", "weights"): {"counts": "weights", "weights": "d"},
    ("privacy model", "k-map", "member"): {
        "counts": "population",
        "member": "secret",
        "present": "1",
        "quasi_identifiers": ("a", "b"),
    },
    ("privacy model", "k-map", "present"): {"counts": "population", "member": "secret", "present": "1"},
    ("privacy model", "highest-risk", "found_in"): {"weights": "c", "quasi_identifiers": ("a",)},
    ("privacy model", "highest-risk", "weights"): {"found_in": "population", "weights": "d"},
    ("privacy model", "average-risk", "found_in"): {"weights": "c", "quasi_identifiers": ("a",)},
    ("privacy model", "average-risk", "weights"): {"found_in": "population", "weights": "d"},
    ("privacy model", "records-at-risk", "found_in"): {"weights": "c", "quasi_identifiers": ("a",)},
    ("privacy model", "records-at-risk", "weights"): {
        "found_in": "population",
        "weights": "d",
        "threshold": 0.253,
    },
    ("privacy model", "records-at-risk", "threshold"): {"quasi_identifiers": ("b",)},
    ("privacy model", "unique-in-population", None): {"fraction": 0.2},
    ("privacy model", "unique-in-population", "fraction"): {"quasi_identifiers": ("a",)},
    ("privacy model", "unique-in-population", "estimator"): {"quasi_identifiers": ("district", "hours")},
    ("measure", "class-risk", "missing"): {"columns": ("sex", "education")},
    ("measure", "individual-risk", "approximate"): {"weights": "c"},
    ("measure", "individual-risk", "threshold"): {"statistic": "above"},
    ("measure", "household-risk", None): {"household": "diagnosis", "weights": "age"},
    ("measure", "household-contradictions", None): {"household": "age", "columns": ("sex", "education")},
    ("measure", "household-risk", "threshold"): {"statistic": "above"},
    ("measure", "household-risk", "missing"): {"columns": ("sex", "education")},
    ("measure", "prosecutor-risk", "missing"): {"columns": ("sex", "education"), "statistic": "average"},
    ("measure", "journalist-risk", "missing"): {"columns": ("sex", "education"), "weights": "age"},
    ("measure", "journalist-risk", None): {"weights": "c", "statistic": "average"},
    ("measure", "journalist-risk", "threshold"): {"statistic": "above", "threshold": 0.01},
    ("measure", "journalist-risk", "member"): {"present": "x"},
    ("measure", "marketer-risk", "member"): {"present": "x"},
    ("measure", "journalist-risk", "present"): {"weights": "", "member": "secret", "present": "1"},
    ("measure", "marketer-risk", "present"): {"member": "secret", "present": "1"},
    ("measure", "population-uniqueness", None): {"fraction": 0.2},
    ("measure", "suda", "threshold"): {"statistic": "above"},
}
"""(family, name, field or None) → settings that must be there for the thing to run, or for the field to matter."""

_TURN = tuple(tuple(float(to == (row + 1) % 9) for to in range(9)) for row in range(9))

OTHER: dict[Place, Any] = {
    ("masking method", "*", "columns"): ("a",),
    ("measure", "*", "columns"): ("a", "b"),
    ("measure", "rule-violations", "columns"): ("sex",),
    ("measure", "one-to-one-linkage", "sample"): 5,
    ("masking method", "generalisation", "columns"): ("age", "sex"),
    ("masking method", "cell-suppression", "columns"): ("a", "b"),
    ("masking method", "record-swapping", "k"): 2,
    ("masking method", "pseudonyms", "key_file"): str(_KEYS / "another.key"),
    ("masking method", "generalisation", "levels"): {"age": 2},
    ("masking method", "generalisation", "confidential"): "diagnosis",
    ("masking method", "local-recoding", "columns"): ("age", "sex"),
    ("masking method", "local-recoding", "confidential"): "diagnosis",
    ("masking method", "local-recoding", "nodes"): 10,
    ("masking method", "local-recoding", "effort"): 0,
    ("partitioner", "one-step", "heuristic"): "cbfs",
    ("partitioner", "two-step", "heuristic"): "cbfs",
    ("partitioner", "one-step", "macrogroup"): 12,
    ("partitioner", "two-step", "macrogroup"): 12,
    ("partitioner", "*", "seconds"): 0.0,
    ("partitioner", "memetic", "steps"): 20,
    ("partitioner", "memetic", "region"): 30,
    ("partitioner", "blocks", "size"): 12,
    ("partitioner", "blocks", "inner"): "cbfs",
    ("partitioner", "blocks", "inner_settings"): {"metric": "manhattan"},
    ("measure", "glm", "columns"): ("age", "sex"),
    ("measure", "precision", "columns"): ("age", "sex"),
    ("measure", "non-uniform-entropy", "columns"): ("age", "sex"),
    ("measure", "classification-metric", "label"): "diagnosis",
    ("privacy model", "*", "quasi_identifiers"): ("a",),
    ("privacy model", "*", "confidential"): ("c",),
    ("privacy model", "l-diversity", "c"): 0.5,
    ("privacy model", "delta-presence", "member"): "c",
    ("privacy model", "household-k-anonymity", "household"): "c",
    ("privacy model", "person-k-anonymity", "person"): "c",
    ("privacy model", "k-map", "member"): "c",
    ("privacy model", "k-map", "present"): "2",
    ("privacy model", "*", "weights"): "c",
    ("measure", "individual-risk", "weights"): "c",
    ("measure", "household-risk", "columns"): ("sex", "education"),
    ("measure", "household-contradictions", "columns"): ("sex",),
    ("measure", "household-contradictions", "household"): "hours",
    ("measure", "household-risk", "weights"): "",
    ("measure", "household-risk", "household"): "sex",
    ("measure", "journalist-risk", "columns"): ("secret",),
    ("measure", "journalist-risk", "weights"): "d",
    ("measure", "journalist-risk", "member"): "secret",
    ("measure", "journalist-risk", "present"): "2",
    ("measure", "marketer-risk", "weights"): "c",
    ("measure", "marketer-risk", "member"): "secret",
    ("measure", "marketer-risk", "present"): "2",
    ("privacy model", "delta-presence", "present"): "2",
    ("measure", "gamma", "columns"): ("a", "b", "c"),
    ("measure", "table-use", "weights"): "c",
    ("measure", "means-use", "by"): ("b",),
    ("measure", "means-use", "weights"): "c",
    ("measure", "estimate-use", "columns"): ("b",),
    ("measure", "estimate-use", "event"): "single",
    ("measure", "estimate-use", "target"): "d",
    ("measure", "estimate-use", "weights"): "c",
    ("measure", "regression-use", "target"): "d",
    ("measure", "classifier-use", "columns"): ("age", "sex"),
    ("measure", "vanished-values", "columns"): ("c",),
    ("measure", "classifier-use", "target"): "education",
    ("masking method", "pram", "matrices"): {"a": _TURN},
    ("masking method", "microaggregation", "partitioner"): "cbfs",
    ("masking method", "microaggregation", "partitioner_settings"): {"metric": "manhattan"},
    ("masking method", "microaggregation", "groups"): (("a", "b"), ("c",)),
    ("measure", "entropy-loss", "transitions"): {"a": _TURN},
    ("measure", "category-linkage", "weights"): {"a": 5.0},
    ("measure", "rank-linkage", "window"): 40.0,
}
"""(family, name or *, field) → another value, where none can be guessed from the field's type."""


REFUSING: set[Place] = {("masking method", "microaggregation", "missing")}
"""Settings whose whole effect is that a table is refused."""


@cache
def mixed_table() -> Table:
    """Invented people with missing values and hierarchies."""
    return example(120, seed=5)


@cache
def numeric_table() -> Table:
    """Five correlated numbers a–e as quasi-identifiers, one confidential number and one confidential category."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal((90, 1))
    values = 10 + base + 0.6 * rng.standard_normal((90, 5))
    attributes = [Attribute(name, Kind.NUMERIC, Role.QUASI_IDENTIFIER) for name in "abcde"]
    columns = [values[:, place] for place in range(5)]
    attributes.append(Attribute("secret", Kind.NOMINAL, Role.CONFIDENTIAL, ("x", "y", "z")))
    columns.append(rng.integers(0, 3, 90).astype(np.int32))
    return Table(tuple(attributes), tuple(columns))


@cache
def ordinal_table() -> Table:
    """Ordinal a and b, nominal c, with so many categories that few records are alike; a confidential ordinal."""
    rng = np.random.default_rng(4)
    attributes = (
        Attribute("a", Kind.ORDINAL, Role.QUASI_IDENTIFIER, tuple("pqrstuvwx")),
        Attribute("b", Kind.ORDINAL, Role.QUASI_IDENTIFIER, ("low", "fair", "mid", "good", "high")),
        Attribute("c", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tuple("1234567")),
        Attribute("secret", Kind.ORDINAL, Role.CONFIDENTIAL, ("1", "2", "3", "4")),
    )
    columns = tuple(rng.integers(0, len(a.categories), 80).astype(np.int32) for a in attributes)
    return Table(attributes, columns)


def masked_examples(table: Table) -> list[Table]:
    """Maskings of every family: aggregated and then moved; in few groups, which lose values; recoded where they can."""
    few = Microaggregation(k=25, missing="aggregate").mask(table, np.random.default_rng(4))
    moved = Microaggregation(k=3, missing="aggregate").mask(table, np.random.default_rng(1))
    if any(not table.attribute(name).numeric for name in table.quasi_identifiers):
        moved = Pram(theta=0.5, form="plain").mask(moved, np.random.default_rng(2))
    if all(table.attribute(name).hierarchy is None for name in table.quasi_identifiers):
        return [few, moved]
    return [few, moved, Generalisation(level=1, suppression=0.2).mask(table, np.random.default_rng(3))]
