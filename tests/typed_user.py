"""What a user writes, checked by `mypy --strict` together with the package, and run by tests/test_imports.py."""

from __future__ import annotations

import numpy as np

import crypsis
from crypsis import KAnonymity, Microaggregation, Table, Verdict, example


def mask(k: int) -> tuple[Table, Verdict]:
    """A masked example and the verdict on it."""
    people = example(60)
    masked = Microaggregation(k=k).mask(people, np.random.default_rng(1))
    return masked, KAnonymity(k=k).judge(masked)


def search(k: int) -> crypsis.Front:
    """The front of a short run."""
    run = crypsis.protect(crypsis.to_frame(example(60)), quasi_identifiers=["age", "sex"], k=k, budget="1 generations")
    return run.front
