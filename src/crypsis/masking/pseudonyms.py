"""Pseudonyms: identifiers become codes that only the holder of a key can make again."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.errors import TableError
from crypsis.masking.method import Family, MaskingMethod, methods
from crypsis.table.attribute import Kind
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

LEAST_KEY = 32
"""Bytes that a key has at least."""
DIGITS = 16
"""Hexadecimal digits of a pseudonym."""


@methods.add("pseudonyms")
class Pseudonyms(MaskingMethod):
    """Every value of the named columns becomes a code: the same value the same code, by a key that is kept secret.

    The key is 32 bytes of the operating system that are forgotten at once, so that nobody can make the codes again; or
    the content of a file, so that its holder can, and files of different days can be joined. Neither the key nor the
    place of its file is printed or written anywhere. A pseudonym protects nobody by itself: whoever recognises one
    record of a person has all of them, and whoever has the key has every name. Columns that share values share codes.

    Notes
    -----
    - Formula: x' = the first 16 hexadecimal digits of HMAC-SHA256(key, x)
    - Paper: Krawczyk, Bellare and Canetti (1997), RFC 2104; ENISA (2019), Pseudonymisation techniques
    - Cost: one digest per distinct value
    - Departures: 64 of 256 bits are published; two values that would share a code are refused

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"person": ["ann", "bob", "ann"]}, roles={"person": "other"})
    >>> codes = crypsis.Pseudonyms(columns=("person",)).mask(table, np.random.default_rng(0)).column("person")
    >>> bool(codes[0] == codes[2] != codes[1])
    True
    """

    family: ClassVar[Family] = Family.RECODING

    columns: tuple[str, ...] = Field(default=(), description="columns whose values become codes; must be named")
    key_file: str = Field(
        default="", description="file with a secret of at least 32 bytes; empty: a new secret that is forgotten at once"
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        if not self.columns:
            raise TableError("pseudonyms: no column is named; name those whose values become codes")
        key = self._read_key()
        masked = table
        for name in self.columns:
            masked = _with_codes(masked, name, key)
        return masked

    def record_step(self, masked: Table, original: Table) -> Table:
        # Where the key lies is nobody's business.
        table = super().record_step(masked, original)
        if table.provenance is None or not self.key_file:
            return table
        public = super(Pseudonyms, self.model_copy(update={"key_file": ""})).record_step(masked, original)
        steps = () if public.provenance is None else public.provenance.steps
        return replace(table, provenance=replace(table.provenance, steps=steps))

    def _read_key(self) -> bytes:
        if not self.key_file:
            return secrets.token_bytes(LEAST_KEY)
        try:
            key = Path(self.key_file).expanduser().read_bytes()
        except OSError as error:
            raise TableError(
                f"pseudonyms: the key file cannot be read ({error.strerror}); give one of at least {LEAST_KEY} bytes"
            ) from None
        if len(key) < LEAST_KEY:
            raise TableError(
                f"pseudonyms: the key file holds {len(key)} bytes and {LEAST_KEY} are needed; make one of random bytes"
            )
        return key


def _with_codes(table: Table, name: str, key: bytes) -> Table:
    """The table with one column of pseudonyms, numbered in the order of the codes, which tells nothing."""
    if table.level(name) != 0:
        raise TableError(f"pseudonyms: column {name!r} is already generalised; take it as collected")
    if table.holds_numbers(name):
        values = table.column(name)
        present = ~np.isnan(values)
        known, inverse = np.unique(values[present], return_inverse=True)
        texts, held = [f"{value:.17g}" for value in known], np.full(len(table), MISSING, dtype=np.int64)
        held[present] = inverse
    else:
        texts, held = list(table.labels(name)), table.column(name).astype(np.int64)
    codes = [hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:DIGITS] for text in texts]
    used = set(held[held >= 0].tolist())
    labels = tuple(sorted({codes[place] for place in used}))
    if len(labels) < len(used):
        raise TableError(f"pseudonyms: two values of column {name!r} have the same code; take another key")
    place = {label: number for number, label in enumerate(labels)}
    numbers = np.array([*(place.get(code, MISSING) for code in codes), MISSING], dtype=np.int32)
    attribute = table.attribute(name).but(kind=Kind.NOMINAL, categories=labels, hierarchy=None, dates="")
    return table.with_columns({name: numbers[held]}, attributes={name: attribute})
