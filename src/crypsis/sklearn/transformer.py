"""What all transformers share: X becomes a table of the columns to mask, and the masked table becomes an answer.

A transformer protects the rows it is fitted on. `transform` recognises those rows by their values and gives each
what fitting gave it, so that ``fit(X).transform(X)`` is ``fit_transform(X)``; any other row is new, and each class
states what becomes of it. Hence a fitted transformer holds original values, like a model of nearest neighbours.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import CrypsisError, TableError, listing, repeated, suggestion
from crypsis.table.attribute import Attribute
from crypsis.table.frames import wrap
from crypsis.table.hierarchy import MISSING
from crypsis.table.restoring import to_frame
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
        """Mask the fitted rows and keep what `_masked` needs."""

    @abstractmethod
    def _masked(self, table: Table) -> Table:
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
            self.columns_ = self._chosen(frame.columns)
            if len(frame) < self._least_rows():
                raise TableError(
                    f"X has {len(frame)} sample{'s' if len(frame) > 1 else ''} and {type(self).__name__} needs at "
                    f"least {self._least_rows()}; give more rows or change the settings"
                )
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
            return self._written(given, self._masked(self._table(given.frame)))

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
            twice = listing(map(repr, repeated(map(str, X.columns))))
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

    def _chosen(self, names: Sequence[str]) -> tuple[str, ...]:
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

    def _written(self, given: Given, masked: Table) -> Any:
        """The masked columns among the others of X, as an array or as the frame that was asked for."""
        restored = nw.from_native(to_frame(masked), eager_only=True)
        if not self._moves_values:  # a mean is a float even where all means are whole
            numbers = [name for name in masked.names if masked.holds_numbers(name) and not masked.attribute(name).dates]
            restored = restored.with_columns(nw.col(name).cast(nw.Float64) for name in numbers)
        whole = given.frame.with_columns(*(restored[name] for name in self.columns_))
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if given.dtype is None and wanted != "default":
            return whole.to_pandas() if wanted == "pandas" else whole.to_polars()
        answer = as_array(whole)
        if given.dtype is None or answer.dtype.kind not in NUMERIC or given.dtype.kind not in NUMERIC:
            return answer
        keep = self._moves_values or given.dtype.kind == "f"
        return answer.astype(given.dtype if keep else np.float64)


def as_array(frame: Any) -> NDArray[Any]:
    """A frame as a matrix of numbers, or of objects where a column holds something else."""
    if all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()):
        return np.asarray(frame.to_numpy())
    answer = np.empty(frame.shape, dtype=object)
    for place, name in enumerate(frame.columns):
        answer[:, place] = frame[name].to_list()
    return answer


def checked_k(k: Any) -> int:
    """The least number of rows in a class, or a sentence that says what it may be."""
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


def refuse_another_type(before: Attribute, now: Attribute) -> None:
    """Refuse a column that held numbers, dates or categories when fitted and holds something else now."""
    if before.numeric != now.numeric or before.dates != now.dates:
        raise TableError(
            f"column {now.name!r} was {before.dates or before.kind} when fitted and is {now.dates or now.kind} now; "
            f"give it the type it had"
        )


def aligned(table: Table, fitted: Table) -> Table:
    """The table with the categories of the fitted one; a category it lacks becomes missing."""
    for name in fitted.names:
        before, now = fitted.attribute(name), table.attribute(name)
        refuse_another_type(before, now)
        if before.categories != now.categories:
            place = {label: code for code, label in enumerate(before.categories)}
            translate = np.array([*(place.get(label, MISSING) for label in now.categories), MISSING], dtype=np.int32)
            table = table.with_columns({name: translate[table.column(name)]}, attributes={name: before})
    return table
