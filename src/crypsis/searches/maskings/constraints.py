"""What a masked file may hold: combinations of categories, and privacy models every file must satisfy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.masked_file import MaskedFileEncoding
from crypsis.errors import SearchError, listing
from crypsis.privacy.model import PrivacyModel

Codes = NDArray[np.signedinteger[Any]]
Rule = Mapping[str, str]
"""Column → category: a combination that no masked record may have."""
Allowed = Callable[[Mapping[str, str | None]], bool]
"""Whether a masked record may hold these labels (None: missing), column by column."""

MOST_COMBINATIONS = 2_000_000


@dataclass(frozen=True, eq=False)
class Constraints:
    """What every file of a population keeps.

    encoding  how codes become a table, for the models
    allowed  by combination of codes, found by the `strides`; empty if everything is allowed
    strides  int64[p]: distance of a column's codes in `allowed`
    models  judged on the decoded table
    """

    encoding: MaskedFileEncoding
    allowed: NDArray[np.bool_]
    strides: NDArray[np.int64]
    models: tuple[PrivacyModel, ...] = ()

    @classmethod
    def of(
        cls,
        encoding: MaskedFileEncoding,
        forbidden: Sequence[Rule] = (),
        allowed: Allowed | None = None,
        models: Sequence[PrivacyModel] = (),
    ) -> Constraints:
        """From forbidden combinations, a rule of the user's own, and privacy models."""
        labels, names = encoding.labels, encoding.context.names
        widths = [len(known) for known in labels]
        if not forbidden and allowed is None:
            return cls(encoding, np.empty(0, dtype=np.bool_), np.zeros(len(widths), dtype=np.int64), tuple(models))
        if math.prod(widths) > MOST_COMBINATIONS:
            raise SearchError(
                f"constraints on {math.prod(widths)} combinations of categories are too many; protect fewer columns"
            )
        grid = np.ones(widths, dtype=np.bool_)
        for rule in forbidden:
            problem = misfit(rule, encoding)
            if problem:
                raise SearchError(problem)
            where = (labels[j].index(rule[name]) if name in rule else slice(None) for j, name in enumerate(names))
            grid[tuple(where)] = False
        if allowed is not None:
            for cell in product(*(range(width) for width in widths)):
                held = {name: labels[j][cell[j]] for j, name in enumerate(names)}
                grid[cell] = grid[cell] and allowed(held)
        strides = np.array([math.prod(widths[j + 1 :]) for j in range(len(widths))], dtype=np.int64)
        return cls(encoding, grid.ravel(), strides, tuple(models))

    def broken(self, codes: Codes) -> NDArray[np.bool_]:
        """bool[n]: records that hold a combination they may not."""
        if not len(self.allowed):
            return np.zeros(len(codes), dtype=np.bool_)
        return np.asarray(~self.allowed[codes @ self.strides])

    def hold(self, codes: Codes) -> bool:
        """Whether a file keeps every constraint."""
        return not self.broken(codes).any() and self.models_hold(codes)

    def models_hold(self, codes: Codes) -> bool:
        """Whether the decoded file satisfies every model."""
        if not self.models:
            return True
        table = self.encoding.decode(codes)
        return all(model.judge(table).holds for model in self.models)


def misfit(rule: Rule, encoding: MaskedFileEncoding) -> str:
    """Why a forbidden combination does not fit the columns, in a sentence; empty if it does."""
    labels = dict(zip(encoding.context.names, encoding.labels, strict=True))
    unknown = sorted(set(rule) - set(labels))
    if unknown or not rule:
        return f"a forbidden combination names {listing(unknown) or 'nothing'}; use protected columns"
    for name, label in rule.items():
        if label not in labels[name]:
            return f"a forbidden combination uses a category that column {name!r} does not have"
    return ""
