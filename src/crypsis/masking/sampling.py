"""Sampling: only a random part of the records is published."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.masking.method import Family, MaskingMethod, methods
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table


@methods.add("sampling")
class Sampling(MaskingMethod):
    """A simple random sample of the records is kept, the others are suppressed; or the same share of every stratum.

    Nobody can be sure that a person is in the file. What is published is as collected: somebody who knows that a person
    is in the sample finds them as before, so that sampling is judged together with what else is done.

    Notes
    -----
    - Formula: percent of the records, drawn without replacement
    - Paper: Hundepool et al. (2012), Statistical Disclosure Control; Skinner, Marsh, Openshaw and Wymer (1994)
    - Cost: O(n)
    - Departures: in each stratum the number is rounded up or down by chance, right on average

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [20, 30, 40, 50]}, roles={"age": "quasi"})
    >>> int(crypsis.Sampling(percent=50).mask(table, np.random.default_rng(0)).kept.sum())
    2
    """

    family: ClassVar[Family] = Family.RECODING

    columns: tuple[str, ...] = Field(
        default=(), description="columns whose combinations of values are the strata; empty: one sample of all records"
    )
    percent: float = Field(default=10.0, gt=0, le=100, description="per cent of the records that are kept")

    def apply(self, table: Table, rng: Generator) -> Table:
        left_out = table.kept.copy()
        order = rng.permutation(np.flatnonzero(table.kept))
        strata = equivalence_classes(table.codes(self.columns)[order]).of if self.columns else np.zeros(len(order), int)
        for stratum in range(int(strata.max(initial=-1)) + 1):
            members = order[strata == stratum]
            wanted = int(self.percent * len(members) / 100 + (rng.random() if self.columns else 0.5))
            left_out[members[:wanted]] = False
        return table.without(left_out)
