"""Small tables of categories for tests: from codes, drawn at random, and with a merged label."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from crypsis.measures.categorical_ledger import Seven
from crypsis.searches.categorical_masking import CategoricalMaskingSearch
from crypsis.searches.categorical_masking.scoring import Constraints, Ledgers, own_measures
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table


def table(codes, sizes, ordinal, kept=None):
    """A table of quasi-identifiers a, b, c … with categories '0', '1', …"""
    codes = np.asarray(codes, dtype=np.int32).reshape(-1, len(sizes))
    attributes = tuple(
        Attribute(
            "abcdef"[j],
            Kind.ORDINAL if ordered else Kind.NOMINAL,
            Role.QUASI_IDENTIFIER,
            tuple(map(str, range(size))),
        )
        for j, (size, ordered) in enumerate(zip(sizes, ordinal, strict=True))
    )
    kept = np.ones(len(codes), dtype=np.bool_) if kept is None else np.array(kept, dtype=np.bool_)
    return Table(attributes, tuple(codes[:, j] for j in range(len(sizes))), kept=kept)


@st.composite
def pairs_of_files(draw):
    """Original and masked codes with missing values, sizes, order, kept."""
    p = draw(st.integers(1, 3))
    n = draw(st.integers(1, 14))
    sizes = draw(st.lists(st.integers(1, 5), min_size=p, max_size=p))
    ordinal = draw(st.lists(st.booleans(), min_size=p, max_size=p))
    row = st.tuples(*(st.integers(-1, size - 1) for size in sizes))
    original, masked = (draw(st.lists(row, min_size=n, max_size=n)) for _ in range(2))
    kept = draw(st.lists(st.integers(0, 9).map(bool), min_size=n, max_size=n))
    return original, masked, sizes, ordinal, kept


def recoded(original):
    """Column a with 0 and 1 merged into a new label."""
    attribute = original.attribute("a").but(categories=("0|1", "2", "3"))
    codes = np.array([0, 0, 1, 2], dtype=np.int32)[original.column("a")]
    return original.with_columns({"a": codes}, attributes={"a": attribute})


def ledgers(original, files, *measures):
    """Tallies of masked files in slots 0, 1, … and of two spare slots; of all measures if none are named."""
    encoding, pairings = CategoricalMaskingSearch().encoding(original).join_files(files)
    measured = Seven.of(*measures) if measures else own_measures(encoding)
    found = Ledgers(pairings[0], measured, Constraints.of(encoding), len(files) + 2, neutral=True)
    for place, pairing in enumerate(pairings):
        assert found.find_slot(pairing.codes, bytes([place])) == place
    return found
