"""What all transformers share: X becomes a table of the columns to mask, and the masked table becomes an answer.

A transformer protects the rows it is fitted on. `transform` recognises those rows by their values and gives each
what fitting gave it, so that ``fit(X).transform(X)`` is ``fit_transform(X)``; any other row is new, and each class
states what becomes of it. Hence a fitted transformer holds original rows, like a model of nearest neighbours, until
`forget_rows` drops them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import CrypsisError, TableError, find_repeated, listing, suggestion
from crypsis.masking.coding import code_within_domain
from crypsis.table.attribute import Attribute
from crypsis.table.builders import TOP, attach_built_hierarchy, build_hierarchy, centres_of_built_intervals
from crypsis.table.encoding import Source
from crypsis.table.frames import to_frame, to_pandas, wrap
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.profile import builder_profile_suggests
from crypsis.table.table import Table

try:
    from sklearn import get_config
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError(
        "crypsis.sklearn needs scikit-learn 1.6 or later, which is not installed; "
        'install it with: pip install "crypsis[sklearn]"'
    ) from None

NUMERIC = "biuf"
"""Kinds of numpy types that are numbers."""


class Given(NamedTuple):
    """X as it was read."""

    frame: Any
    """A narwhals frame of all columns."""
    dtype: Any = None
    """The numpy type, if X was an array."""


class MaskingTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A masking of the chosen columns of X; every other column passes through unchanged."""

    columns: Sequence[str | int] | None
    random_state: Any

    _masks_text: ClassVar[bool] = True
    """Whether columns of text can be masked."""
    _moves_values: ClassVar[bool] = False
    """Whether every masked value is one that was collected, so that its type can stay."""

    @abstractmethod
    def _learn(self, table: Table, rng: Generator) -> None:
        """Mask the fitted rows and keep what `_mask` needs."""

    @abstractmethod
    def _mask(self, table: Table) -> Table:
        """The rows masked: fitted ones as fitting left them, others as the class states."""

    def _least_rows(self) -> int:
        """Fewest rows that can be masked."""
        return 2

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the masking of the rows of X.

        Parameters
        ----------
        X : array_like or frame of shape (n_samples, n_features)
            Numpy array, pandas or polars frame. Missing values are allowed only in columns that are not masked.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        ValueError
            If a column is unknown, a value missing, a setting out of bounds, or there are too few rows.
        """
        with refused_as_value_error():
            self._text: set[str] = set()
            frame = self._read(X, reset=True).frame
            self.columns_ = self._choose_columns(frame.columns)
            if len(frame) < self._least_rows():
                raise TableError(
                    f"X has {len(frame)} sample{'s' if len(frame) > 1 else ''} and {type(self).__name__} needs at "
                    f"least {self._least_rows()}; give more rows or change the settings"
                )
            self.rows_forgotten_ = False
            seed = check_random_state(self.random_state).randint(2**31, size=4)
            self._learn(self._table(frame), np.random.default_rng(seed))
        return self

    def transform(self, X: Any) -> Any:
        """Mask rows: those that were fitted as in `fit_transform`, new ones without any guarantee.

        Parameters
        ----------
        X : array_like or frame of shape (n_samples, n_features)
            Rows with the columns that were fitted.

        Returns
        -------
        array or frame of shape (n_samples, n_features)
            The rows with the chosen columns masked, in the container chosen with `set_output`.
        """
        check_is_fitted(self)
        with refused_as_value_error():
            given = self._read(X, reset=False)
            return self._write_columns(given, self._mask(self._table(given.frame)))

    def forget_rows(self) -> Self:
        """Drop the fitted rows: afterwards every row that is transformed is a new one.

        A fitted transformer recognises the rows it was fitted on, and holds them for that. This keeps what new rows
        need alone: what classes publish, values column by column, matrices. Call it before a fitted transformer is
        stored or handed on; take the result of `fit_transform` first, which alone carries the guarantee.

        Returns
        -------
        self

        Examples
        --------
        >>> from crypsis.sklearn import Microaggregator
        >>> masker = Microaggregator(k=2).fit([[1.0], [2.0], [10.0], [12.0]]).forget_rows()
        >>> masker.transform([[1.0], [11.5]]).ravel().tolist()
        [1.5, 11.0]
        """
        check_is_fitted(self)
        self._forget()
        self.rows_forgotten_ = True
        return self

    @abstractmethod
    def _forget(self) -> None:
        """Keep what new rows need alone."""

    @property
    def _forgotten(self) -> bool:
        return bool(getattr(self, "rows_forgotten_", False))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: text is accepted where it can be masked; floats keep their width."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = self._masks_text
        kept = ["float64", "float32"]
        tags.transformer_tags.preserves_dtype = [*kept, "int64", "int32"] if self._moves_values else kept
        return tags

    # -- reading --

    def _read(self, X: Any, reset: bool) -> Given:
        """X as a frame whose columns are called as when fitted (x0, x1, … if they had no names)."""
        try:
            eager = nw.from_native(X, eager_only=True, pass_through=True)
        except nw.exceptions.DuplicateError:
            twice = listing(map(repr, find_repeated(map(str, X.columns))))
            raise TableError(f"two columns of X share a name: {twice}; give every column its own") from None
        if isinstance(eager, nw.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            names = self._names(eager.shape[1])
            if hasattr(X, "set_axis"):  # pandas, whose labels need not be text
                return Given(nw.from_native(X.set_axis(names, axis=1), eager_only=True))
            return Given(eager.rename(dict(zip(eager.columns, names, strict=True))))
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        names = self._names(array.shape[1])
        text = set() if reset else self._text
        columns = [self._series(name, array[:, place], name in text) for place, name in enumerate(names)]
        if reset:
            self._text = {column.name for column in columns if column.dtype == pl.String}
        return Given(nw.from_native(pl.DataFrame(columns), eager_only=True), array.dtype)

    def _names(self, width: int) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{place}" for place in range(width)])]

    def _series(self, name: str, column: NDArray[Any], text: bool) -> pl.Series:
        """One column of an array; objects are text if they were so when fitted, or are not all numbers."""
        if column.dtype.kind in "bf":  # narrow floats and truth values count as numbers in an array
            return pl.Series(name, column.astype(np.promote_types(column.dtype, np.float32)))
        if column.dtype.kind not in "OUS":
            return pl.Series(name, np.ascontiguousarray(column))
        try:
            if not text:
                return pl.Series(name, column.astype(np.float64))
        except ValueError:
            pass
        except TypeError:
            if not self._masks_text:
                raise
        cells = [None if cell is None or cell != cell else str(cell) for cell in column.tolist()]  # NaN is not itself
        return pl.Series(name, cells, dtype=pl.String)

    def _choose_columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of the columns to mask, in the order of X."""
        if self.columns is None:
            return tuple(names)
        wanted = [self.columns] if isinstance(self.columns, str | int) else list(self.columns)
        chosen = set()
        for column in wanted:
            place = isinstance(column, int | np.integer) and 0 <= column < len(names)
            name = names[int(column)] if place else column
            if name not in names:
                raise TableError(
                    f"X has no column {column!r}{suggestion(str(column), names)}; "
                    f"columns: {listing(names)}, or positions from 0 to {len(names) - 1}"
                )
            chosen.add(name)
        if not chosen:
            raise TableError("columns names nothing to mask; leave it out to mask every column of X")
        return tuple(name for name in names if name in chosen)

    def _table(self, frame: Any) -> Table:
        """The chosen columns as a table without a missing value."""
        table = wrap(frame.select(*self.columns_).to_native())
        for name in table.names:
            absent = int(table.missing(name).sum())
            if absent:
                raise TableError(
                    f"column {name!r} has {absent} missing value{'s' if absent > 1 else ''} (NaN or null), which "
                    f"{type(self).__name__} cannot mask; fill them in first, for example with "
                    f"sklearn.impute.SimpleImputer, or leave the column out of `columns`"
                )
        return table

    # -- writing --

    def _write_columns(self, given: Given, masked: Table) -> Any:
        """The masked columns among the others of X, as an array or as the frame that was asked for."""
        restored = nw.from_native(to_frame(masked), eager_only=True)
        if not self._moves_values:  # a mean is a float even where all means are whole
            numbers = [name for name in masked.names if masked.holds_numbers(name) and not masked.attribute(name).dates]
            restored = restored.with_columns(nw.col(name).cast(nw.Float64) for name in numbers)
        whole = given.frame.with_columns(*(restored[name] for name in self.columns_))
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if given.dtype is None and wanted != "default":
            return _as_pandas(whole) if wanted == "pandas" else whole.to_polars()
        answer = _as_array(whole)
        if given.dtype is None or answer.dtype.kind not in NUMERIC or given.dtype.kind not in NUMERIC:
            return answer
        keep = self._moves_values or given.dtype.kind == "f"
        return answer.astype(given.dtype if keep else np.float64)


def _as_pandas(frame: Any) -> Any:
    return to_pandas(frame.to_native()) if isinstance(frame.to_native(), pl.DataFrame) else frame.to_pandas()


def _as_array(frame: Any) -> NDArray[Any]:
    """A frame as a matrix of numbers, or of objects where a column holds something else."""
    if all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()):
        return np.asarray(frame.to_numpy())
    answer = np.empty(frame.shape, dtype=object)
    for place, name in enumerate(frame.columns):
        answer[:, place] = frame[name].to_list()
    return answer


def check_transformer_k(k: Any) -> int:
    """Check the parameter k that all scikit-learn transformers share: a whole number of 2 or more."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 2:
        raise TableError(f"k is {k!r}; it is a whole number of 2 or more, the least number of rows in a class")
    return int(k)


@contextmanager
def refused_as_value_error() -> Iterator[None]:
    """What Crypsis refuses is a ValueError where scikit-learn looks on."""
    try:
        yield
    except CrypsisError as error:
        raise ValueError(str(error)) from None


def _refuse_another_type(before: Attribute, now: Attribute) -> None:
    """Refuse a column that held numbers, dates or categories when fitted and holds something else now."""
    if before.numeric != now.numeric or before.dates != now.dates:
        raise TableError(
            f"column {now.name!r} was {before.dates or before.kind} when fitted and is {now.dates or now.kind} now; "
            f"give it the type it had"
        )


def align_categories_to_fitted(table: Table, fitted: Table) -> Table:
    """The table that any transformer makes of X, in the categories of the fitted one; unknown ones become missing."""
    for name in fitted.names:
        before, now = fitted.attribute(name), table.attribute(name)
        _refuse_another_type(before, now)
        if before.categories != now.categories:
            place = {label: code for code, label in enumerate(before.categories)}
            translate = np.array([*(place.get(label, MISSING) for label in now.categories), MISSING], dtype=np.int32)
            table = table.with_columns({name: translate[table.column(name)]}, attributes={name: before})
    return table


# -- Fitted rows recognised in other data: values as places among the fitted ones, and rows that equal fitted rows.


def turns_of_equal_rows(of: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many equal entries of X precede each entry, as transformers share it."""
    order = np.argsort(of, kind="stable")
    ranked = of[order]
    turn = np.empty(len(of), dtype=np.int64)
    turn[order] = np.arange(len(of)) - np.searchsorted(ranked, ranked)
    return turn


# -- The hierarchy of a fitted column: it reaches numbers that were not fitted, and says which number an interval is.

Spec = str | Path | Hierarchy


@dataclass(frozen=True, eq=False)
class ColumnHierarchy:
    """A column with its hierarchy, which has one root; leaves that were not fitted may have been added."""

    attribute: Attribute
    hierarchy: Hierarchy
    spec: Spec
    whole: bool
    """Whether a numeric column was fitted on whole numbers."""
    moved: NDArray[np.int32]
    """Where each fitted leaf is among the leaves."""

    @classmethod
    def of(cls, table: Table, name: str, spec: Spec | None) -> ColumnHierarchy:
        """The hierarchy a specification, or the look of the column, gives it."""
        spec = builder_profile_suggests(table, name) if spec is None else spec
        attribute, _ = attach_built_hierarchy(spec, table.attribute(name), table.column(name), Source(), ordered=True)
        if attribute.hierarchy is None:
            raise TableError(f"column {name!r} has no hierarchy; give it one in `hierarchies`")
        hierarchy = _add_root(attribute.hierarchy)
        whole = bool(np.all(hierarchy.values == np.round(hierarchy.values)))
        places = np.arange(hierarchy.size, dtype=np.int32)
        return cls(attribute.but(hierarchy=hierarchy), hierarchy, spec, whole, places)

    @property
    def builder(self) -> str:
        """Name of the builder, or nothing for a file or a ready hierarchy."""
        return self.spec.partition(":")[0] if isinstance(self.spec, str) else ""

    def extend_to(self, table: Table) -> ColumnHierarchy:
        """The same hierarchy with the numbers of a table among its leaves, if its builder can place any number."""
        attribute, before = table.attribute(self.attribute.name), self.hierarchy
        _refuse_another_type(self.attribute, attribute)
        if not attribute.numeric or self.builder not in ("intervals", "dates"):
            return self
        values = np.union1d(before.values, table.column(attribute.name))
        if len(values) == before.size:
            return self
        wider = build_hierarchy(self.spec, self.attribute, values)
        moved = code_within_domain(values, before.values)
        labels = [wider.labels[0]]
        for level in range(1, wider.height + 1):  # an interval keeps the name it had
            group, leaf = np.unique(before.groups[level], return_index=True)
            names = dict(
                zip(wider.groups[level][moved[leaf]], (before.labels[level][code] for code in group), strict=True)
            )
            labels.append(tuple(names.get(code, label) for code, label in enumerate(wider.labels[level])))
        wider = Hierarchy(wider.groups, tuple(labels), values)
        return replace(self, attribute=self.attribute.but(hierarchy=wider), hierarchy=wider, moved=moved)

    def canonical(self, leaf: NDArray[np.int32], level: NDArray[np.int8]) -> NDArray[np.int32]:
        """The first leaf of the group that each leaf is in at its level, which tells no more than the group.

        `leaf` int32[n] and `level` int8[n]; a missing leaf is −1 and stays so.
        """
        found = leaf.copy()
        for height, groups in enumerate(self.hierarchy.groups):
            first = np.unique(groups, return_index=True)[1]
            here = (level == height) & (leaf >= 0)
            found[here] = first[groups[leaf[here]]]
        return found

    def leaves(self, table: Table) -> NDArray[np.int32]:
        """int32[n]: leaf of each record, −1 where the hierarchy does not hold its value."""
        name = self.attribute.name
        if self.attribute.numeric:
            return code_within_domain(self.hierarchy.values, table.column(name))
        where = {label: code for code, label in enumerate(self.hierarchy.labels[0])}
        places = [*(where.get(label, MISSING) for label in table.attribute(name).categories), MISSING]
        return np.array(places, dtype=np.int32)[table.column(name)]

    @cached_property
    def _lifted_nodes(self) -> NDArray[np.int32]:
        """int32[levels, leaves + 1]: node of each leaf at each level; last the root, for what is not held."""
        root = self.hierarchy.offsets[-1] - 1
        rows = [
            np.append(group + start, root) for group, start in zip(self.hierarchy.groups, self._starts, strict=True)
        ]
        return np.stack(rows).astype(np.int32)

    @property
    def _starts(self) -> NDArray[np.int32]:
        """Number of the first node of each level."""
        return self.hierarchy.offsets[:-1]

    def nodes(self, leaf: NDArray[np.int32], level: NDArray[Any]) -> NDArray[np.int32]:
        """Node of each leaf at the level given with it; the root where there is no leaf."""
        lifted: NDArray[np.int32] = self._lifted_nodes[level, leaf]
        return lifted

    def level_of(self, nodes: NDArray[np.int32]) -> NDArray[np.int8]:
        """Level of each node."""
        return (np.searchsorted(self._starts, nodes, side="right") - 1).astype(np.int8)

    def common_level(self, leaf: NDArray[np.int32], member: NDArray[np.int32]) -> NDArray[np.int8]:
        """int8[leaves, members]: the lowest level at which a leaf and a member are one; the top without a leaf."""
        leaves, of = np.unique(leaf, return_inverse=True)
        members, at = np.unique(member, return_inverse=True)
        apart = np.zeros((len(leaves), len(members)), dtype=np.int8)
        for level in self._lifted_nodes:
            apart += level[leaves][:, None] != level[members]
        return np.minimum(apart, np.int8(self.hierarchy.height))[of][:, at]

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """float64[levels, leaves + 1]: loss of a cell, (fitted leaves of its node − 1) / (all fitted leaves − 1)."""
        held = np.bincount(self._lifted_nodes[:, self.moved].ravel(), minlength=int(self.hierarchy.offsets[-1]))
        return np.asarray((held[self._lifted_nodes] - 1) / max(len(self.moved) - 1, 1))

    def centres(self) -> NDArray[np.float64]:
        """float64[nodes]: the number that stands for each node of a numeric column, whatever leaves were added."""
        values, groups = self.hierarchy.values, self.hierarchy.groups
        middles = [values]
        if self.builder == "intervals" and isinstance(self.spec, str):
            text = self.spec.partition(":")[2]
            middles += centres_of_built_intervals(text, self.attribute, values, whole=self.whole)
        middles += [middles[-1]] * (len(groups) - len(middles))
        found = [_midrange(middle, group) for middle, group in zip(middles[:-1], groups[:-1], strict=True)]
        return np.concatenate([*found, _midrange(middles[-1][self.moved], np.zeros_like(self.moved))])


def _midrange(values: NDArray[np.float64], group: NDArray[np.int32]) -> NDArray[np.float64]:
    """Halfway between the lowest and the highest value of each group."""
    low, high = np.full(int(group.max()) + 1, np.inf), np.full(int(group.max()) + 1, -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return np.asarray(low + (high - low) / 2)


def _add_root(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy, with a level more where its highest has several groups."""
    if len(hierarchy.labels[-1]) == 1:
        return hierarchy
    top = np.zeros(hierarchy.size, dtype=np.int32)
    return Hierarchy((*hierarchy.groups, top), (*hierarchy.labels, (TOP,)), hierarchy.values)
