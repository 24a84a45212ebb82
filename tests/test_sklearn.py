"""The scikit-learn face: estimator checks, k judged again by other means, new rows, frames, seeds, refusals."""

from __future__ import annotations

import datetime as dt
import inspect
import os
import pickle
import re
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import estimator_checks

import crypsis
from crypsis import sklearn as face
from crypsis.masking import MDAV, VMDAV, methods
from crypsis.masking.scaling import embed
from crypsis.sklearn import LatticeGeneraliser, LocalRecoder, Microaggregator, PostRandomiser, RankSwapper
from crypsis.sklearn.transformers import (
    find_rows_transformers_fitted,
    find_value_transformers_fitted,
    keyed_draws_of_transformer,
)
from crypsis.table.frames import wrap
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

ALL = [Microaggregator, LatticeGeneraliser, LocalRecoder, RankSwapper, PostRandomiser]
ANONYMOUS = [Microaggregator, LatticeGeneraliser, LocalRecoder]


# -- scikit-learn's own checks --


@estimator_checks.parametrize_with_checks([cls() for cls in ALL])
def test_estimator_checks(estimator: Any, check: Any) -> None:
    """Every check applies; the one on array APIs steps aside here and runs below."""
    check(estimator)


EQUAL_ROWS = "equal rows may be masked differently, so that copies are told apart by their order in the call"
NOT_APPLICABLE = {
    "check_methods_subset_invariance": EQUAL_ROWS,
    "check_methods_sample_order_invariance": EQUAL_ROWS,
}


class OfCategories:
    """Tagged as categorical, for which scikit-learn makes small whole numbers with many equal rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.categorical = True
        return tags


class CategoryMicroaggregator(OfCategories, Microaggregator): ...


class CategoryLatticeGeneraliser(OfCategories, LatticeGeneraliser): ...


class CategoryLocalRecoder(OfCategories, LocalRecoder): ...


class CategoryRankSwapper(OfCategories, RankSwapper): ...


class CategoryPostRandomiser(OfCategories, PostRandomiser): ...


@estimator_checks.parametrize_with_checks(
    [cls() for cls in OfCategories.__subclasses__()],
    expected_failed_checks=lambda estimator: {} if isinstance(estimator, LatticeGeneraliser) else NOT_APPLICABLE,
)
def test_estimator_checks_with_many_equal_rows(estimator: Any, check: Any) -> None:
    check(estimator)


OUTPUT_CHECKS = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
]


@pytest.mark.parametrize("check", OUTPUT_CHECKS)
@pytest.mark.parametrize("cls", ALL)
@pytest.mark.filterwarnings("ignore:X (has|does not have) ")
def test_checks_of_names_and_containers(cls: type, check: str) -> None:
    """Checks scikit-learn applies to its own transformers beyond `check_estimator`."""
    getattr(estimator_checks, check)(cls.__name__, cls())


def test_array_api_checks() -> None:
    code = (
        "from sklearn.utils.estimator_checks import estimator_checks_generator as checks\n"
        "import crypsis.sklearn as face\n"
        "for name in face.__all__:\n"
        "    found = [c for c in checks(getattr(face, name)()) if 'array_api' in str(c[1])]\n"
        "    print(name, len([check(estimator) for estimator, check in found]))\n"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout.split() == [word for name in face.__all__ for word in (name, "1")]


@pytest.mark.parametrize("cls", ALL)
def test_parameters_are_named_and_the_limits_of_transform_are_stated(cls: type) -> None:
    kinds = {parameter.kind for parameter in inspect.signature(cls).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    told = " ".join((cls.__doc__ or "").split())
    assert re.search(r"[Nn]ew rows carry no guarantee", told)
    for name in inspect.signature(cls).parameters:
        assert f" {name} : " in told, name


def test_without_scikit_learn_the_extra_is_named() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import crypsis; import crypsis.sklearn"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = said.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: crypsis.sklearn needs scikit-learn")
    assert 'pip install "crypsis[sklearn]"' in last


# -- tables --


def people(n: int, seed: int = 0) -> pl.DataFrame:
    """Invented people without missing values; integer, float, text, truth, ordered and date columns."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": np.round(rng.lognormal(10, 0.6, n), 2),
            "sex": rng.choice(["female", "male"], n),
            "district": rng.choice(["Harbour", "Old Town", "Eastgate", "Ironhill"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "member": rng.random(n) < 0.3,
            "school": pl.Series(rng.choice(["none", "some", "much"], n), dtype=pl.Enum(["none", "some", "much"])),
            "born": [dt.date(1990, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 2000, n)],
        }
    )


QUASI = ["age", "sex", "district", "member", "school"]


def smallest_class(frame: pl.DataFrame, names: list[str]) -> int:
    return int(frame.group_by(names).len()["len"].min())  # type: ignore[arg-type]


# -- the protection of fitted rows --


@pytest.mark.parametrize("cls", ANONYMOUS)
@pytest.mark.parametrize("k", [2, 7])
def test_k_judged_by_polars(cls: Any, k: int) -> None:
    frame = people(300)
    masked = cls(k=k, columns=QUASI, random_state=0).set_output(transform="polars").fit_transform(frame)
    assert smallest_class(masked, QUASI) >= k
    assert masked.columns == frame.columns
    assert_frame_equal(masked.select("income", "born"), frame.select("income", "born"))
    assert not masked.select(QUASI).equals(frame.select(QUASI))


@pytest.mark.parametrize("cls", ANONYMOUS)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), k=st.integers(2, 6))
def test_k_judged_by_numpy_and_fitted_rows_are_recognised(cls: Any, data: st.DataObject, k: int) -> None:
    n = data.draw(st.integers(k, 40))
    width = data.draw(st.integers(1, 3))
    cells = st.sampled_from([-3.0, -0.5, 0.0, 0.25, 1.0, 2.0, 7.5, 40.0])
    X = np.array(data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=n, max_size=n)))
    masker = cls(k=k, random_state=0)
    masked = masker.fit_transform(X)
    assert np.unique(masked, axis=0, return_counts=True)[1].min() >= k
    assert np.array_equal(masker.transform(X), masked)
    assert np.array_equal(cls(k=k, random_state=0).fit(X).transform(X), masked)


@pytest.mark.parametrize("cls", ALL)
def test_copies_of_a_row_take_their_fitted_rows_in_turn(cls: Any) -> None:
    X = np.random.default_rng(0).integers(0, 4, (120, 2)).astype(float)
    masker = cls(random_state=3)
    masked = masker.fit_transform(X)
    order = np.argsort(X[:, 0] * 10 + X[:, 1], kind="stable")  # copies stay in their order
    assert np.array_equal(masker.transform(X[order]), masked[order])


def test_fitted_rows_by_hand() -> None:
    fitted = np.array([[0, 0], [1, 1], [0, 0], [2, 0]], dtype=np.int32)
    rows = np.array([[0, 0], [2, 0], [0, 0], [1, 0], [0, 0], [-1, 0]], dtype=np.int32)
    assert find_rows_transformers_fitted(fitted, rows).tolist() == [0, 3, 2, -1, 0, -1]


# -- new rows --


def test_microaggregator_by_hand() -> None:
    masker = Microaggregator(k=3).fit([[0.0], [1.0], [2.0], [50.0], [51.0], [55.0]])
    assert masker.transform([[1.0], [55.0]]).ravel().tolist() == [1.0, 52.0]
    assert masker.transform([[-9.0], [20.0], [30.0], [1e6]]).ravel().tolist() == [1.0, 1.0, 52.0, 52.0]
    assert len(set(masker.labels_)) == 2


def test_microaggregator_gives_new_rows_the_nearest_group() -> None:
    fitted, new = people(80).select(QUASI), people(40, seed=9).select(QUASI)
    masker = Microaggregator(k=4).set_output(transform="polars")
    masked, answer = masker.fit_transform(fitted), masker.transform(new)
    both = wrap(pl.concat([fitted, new]))
    apart = embed(wrap(fitted), QUASI, "z")
    groups = np.unique(masker.labels_)
    centroids = np.stack([apart[masker.labels_ == group].mean(axis=0) for group in groups])
    # the space of the fitted rows, from scratch: deviations and means of the fitted rows applied to all
    points = []
    for name in QUASI:
        column = both.column(name)
        attribute = both.attribute(name)
        if attribute.kind == "numeric":
            part = column[:, None]
        elif attribute.kind == "ordinal":
            part = column[:, None] / (len(attribute.categories) - 1)
        else:
            part = (column[:, None] == np.arange(len(attribute.categories))) / np.sqrt(2)
        centred = part - part[: len(fitted)].mean(axis=0)
        points.append(centred / np.sqrt(np.mean(np.sum(centred[: len(fitted)] ** 2, axis=1))))
    placed = np.hstack(points)[len(fitted) :]
    known = {row: masked.row(place) for place, row in enumerate(fitted.rows())}
    for place, row in enumerate(new.rows()):
        nearest_group = groups[np.argmin(np.sum((centroids - placed[place]) ** 2, axis=1))]
        expected = masked.row(int(np.flatnonzero(masker.labels_ == nearest_group)[0]))
        assert answer.row(place) in ([known[row], expected] if row in known else [expected])


def test_a_category_that_was_not_fitted_pulls_nowhere() -> None:
    fitted = pl.DataFrame({"age": [20, 21, 60, 61], "town": ["a", "a", "b", "b"]})
    masker = Microaggregator(k=2).set_output(transform="polars").fit(fitted)
    assert masker.transform(pl.DataFrame({"age": [25], "town": ["elsewhere"]})).row(0) == (20.5, "a")


@pytest.mark.parametrize("cls", ALL)
def test_new_rows_do_not_depend_on_the_others_of_the_call(cls: Any) -> None:
    rng = np.random.default_rng(1)
    masker = cls(random_state=0).fit(rng.normal(size=(60, 3)))
    new = np.concatenate([rng.normal(size=(20, 3)), 50 * rng.normal(size=(10, 3))])  # also far outside
    one_by_one = np.concatenate([masker.transform(row[None]) for row in new])
    assert np.array_equal(masker.transform(new), one_by_one)


AREAS = Hierarchy.from_rows([[f"{a}{b}{c}", f"{a}{b}", a, "*"] for a in "pq" for b in "xyz" for c in "12"])
AREA_OF = {leaf: (leaf, leaf[:2], leaf[0], "*") for leaf in AREAS.labels[0]}
WIDE = {"area": AREAS, "age": "intervals:10,20"}


def areas(n: int, rng: np.random.Generator, low: int = 20, high: int = 60) -> pl.DataFrame:
    return pl.DataFrame({"area": rng.choice(AREAS.labels[0], n), "age": rng.integers(low, high, n)})


def holds(label: str, value: Any) -> bool:
    """Whether a published label is true of a value."""
    if isinstance(value, str):
        return label in AREA_OF[value]
    low, _, high = label.partition("–")
    return label == "*" or int(low) <= value <= int(high or low)


@pytest.mark.parametrize("cls", [LatticeGeneraliser, LocalRecoder])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 5))
def test_what_is_published_is_true_of_every_row(cls: Any, seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    fitted, new = areas(30, rng), areas(20, rng, 0, 99)
    masker = cls(k=k, hierarchies=WIDE, intervals="label", random_state=0).set_output(transform="polars")
    for original, masked in ((fitted, masker.fit_transform(fitted)), (new, masker.transform(new))):
        for name in original.columns:
            assert all(holds(label, value) for label, value in zip(masked[name], original[name], strict=True))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_local_recoder_gives_new_rows_the_cheapest_class_that_covers_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fitted, new = areas(25, rng), areas(15, rng)
    masker = LocalRecoder(k=3, hierarchies=WIDE, intervals="label", random_state=0).set_output(transform="polars")
    classes = set(masker.fit_transform(fitted).rows())
    known = set(fitted.rows())
    ages = set(fitted["age"])

    def loss(published: tuple[str, str]) -> float:
        area = [sum(published[0] in AREA_OF[leaf] for leaf in AREA_OF) - 1, len(AREA_OF) - 1]
        age = [sum(holds(published[1], number) for number in ages) - 1, len(ages) - 1]
        return area[0] / area[1] + age[0] / age[1]

    for row, published in zip(new.rows(), masker.transform(new).rows(), strict=True):
        covering = [c for c in classes if holds(c[0], row[0]) and holds(c[1], row[1])]
        if covering and row not in known:
            assert published in classes
            assert loss(published) == pytest.approx(min(map(loss, covering)))


def test_lattice_generaliser_finds_the_least_loss_by_hand() -> None:
    X = pl.DataFrame({"age": [21, 22, 31, 32], "area": ["px1", "px1", "px2", "px2"]})
    masker = LatticeGeneraliser(k=2, hierarchies=WIDE, intervals="label").set_output(transform="polars")
    assert masker.fit_transform(X).rows() == [("20–29", "px1")] * 2 + [("30–39", "px2")] * 2
    assert masker.levels_ == {"age": 1, "area": 0}
    assert masker.exact_
    assert not masker.suppressed_.any()
    new = pl.DataFrame({"age": [45, 21], "area": ["qz2", "unheard of"]})
    assert masker.transform(new).rows() == [("40–49", "qz2"), ("20–29", "*")]


def test_suppressed_rows_stay_at_the_root_and_count_in_no_class() -> None:
    ages = [21, 22, 23, 31, 32, 33, 87]
    masker = LatticeGeneraliser(k=3, hierarchies={"x0": "intervals:10"}, suppression=0.15, intervals="label")
    masked = masker.fit_transform(np.array(ages)[:, None])
    assert masked.ravel().tolist() == ["20–29"] * 3 + ["30–39"] * 3 + ["*"]
    assert masker.suppressed_.tolist() == [False] * 6 + [True]
    assert masker.transform([[88], [55], [30]]).ravel().tolist() == ["*", "50–59", "30–39"]
    strict = LatticeGeneraliser(k=3, hierarchies={"x0": "intervals:10"}, intervals="label")
    assert set(strict.fit_transform(np.array(ages)[:, None]).ravel()) == {"*"}


def test_numbers_of_intervals_are_their_midpoints() -> None:
    whole = LatticeGeneraliser(k=2, hierarchies={"x0": "intervals:10"})
    assert whole.fit_transform([[21], [24], [33], [38]]).ravel().tolist() == [24.5, 24.5, 34.5, 34.5]
    assert whole.transform([[21.7], [99]]).ravel().tolist() == [24.5, 94.5]
    real = LatticeGeneraliser(k=2, hierarchies={"x0": "intervals:0.5"})
    assert real.fit_transform([[0.1], [0.4], [0.75], [0.5]]).ravel().tolist() == [0.25, 0.25, 0.75, 0.75]
    listed = Hierarchy.from_rows([["1", "low", "*"], ["2", "low", "*"], ["5", "high", "*"], ["9", "high", "*"]])
    given = LatticeGeneraliser(k=2, hierarchies={"x0": listed})
    assert given.fit_transform([[1], [2], [5], [9]]).ravel().tolist() == [1.5, 1.5, 7.0, 7.0]
    assert given.transform([[7]]).ravel().tolist() == [5.0]  # not listed: the root
    root = LatticeGeneraliser(k=4, hierarchies={"x0": "intervals:10"}).fit([[21], [24], [33], [38]])
    assert root.transform([[21], [9000]]).ravel().tolist() == [29.5, 29.5]  # new numbers do not move the root


def test_an_interval_keeps_its_name_when_numbers_with_decimals_come() -> None:
    masker = LatticeGeneraliser(k=2, hierarchies={"x0": "intervals:10"}, intervals="label").fit(
        [[21], [24], [33], [38]]
    )
    assert masker.transform([[24.5], [33.0]]).ravel().tolist() == ["20–29", "30–39"]


def test_dates_become_labels_at_any_date() -> None:
    days = [dt.date(2020, 1, 5), dt.date(2020, 1, 9), dt.date(2021, 3, 1), dt.date(2021, 3, 7)]
    masker = LatticeGeneraliser(k=2, hierarchies={"day": "dates:month,year"}).set_output(transform="polars")
    assert masker.fit_transform(pl.DataFrame({"day": days}))["day"].to_list() == ["2020-01"] * 2 + ["2021-03"] * 2
    assert masker.transform(pl.DataFrame({"day": [dt.date(1999, 12, 31)]}))["day"].to_list() == ["1999-12"]


def test_large_lattices_are_searched() -> None:
    X = np.random.default_rng(0).normal(size=(40, 9))
    masker = LatticeGeneraliser(k=5, random_state=0)
    masked = masker.fit_transform(X)
    assert not masker.exact_
    assert np.unique(masked, axis=0, return_counts=True)[1].min() >= 5


# -- perturbation --


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=60), st.sampled_from([1.0, 10.0, 60.0]), st.integers(0, 99))
def test_rank_swapper_keeps_values_and_stays_near(values: list[int], percent: float, seed: int) -> None:
    X = np.array(values)[:, None]
    masked = RankSwapper(percent, random_state=seed).fit_transform(X)
    assert masked.dtype == X.dtype
    assert np.array_equal(np.sort(masked, axis=0), np.sort(X, axis=0))
    window = max(int(percent * len(X) / 100), 1)
    ranked = np.sort(X[:, 0])
    for before, after in zip(X[:, 0], masked[:, 0], strict=True):
        low, high = sorted((before, after))
        apart = np.searchsorted(ranked, high) - (np.searchsorted(ranked, low, side="right") - 1)
        assert apart <= window


def test_rank_swapper_swaps_even_where_the_share_is_less_than_a_rank() -> None:
    X = np.arange(10.0)[:, None]
    assert (RankSwapper(percent=1, random_state=0).fit_transform(X) != X).any()


def test_rank_swapper_gives_new_values_what_the_nearest_got() -> None:
    X = np.array([[1.0], [2.0], [5.0], [9.0]])
    masker = RankSwapper(percent=50, random_state=1)
    masked = masker.fit_transform(X).ravel()
    assert masker.transform([[1.4], [3.4], [3.6], [-99.0], [99.0]]).ravel().tolist() == [
        *masked[[0, 1, 2, 0, 3]].tolist()
    ]


def test_rank_swapper_of_ordered_categories() -> None:
    frame = people(60).select("school", "born")
    masked = RankSwapper(20, random_state=0).set_output(transform="polars").fit_transform(frame)
    assert masked.schema == frame.schema
    assert masked["school"].value_counts().sort("school").equals(frame["school"].value_counts().sort("school"))
    assert not masked.equals(frame)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=20), st.floats(-30, 30))
def test_nearest_equals_a_search_through_all(domain: list[int], value: float) -> None:
    ascending = np.sort(np.array(domain, dtype=float))
    place = int(find_value_transformers_fitted(ascending, np.array([value]))[0])
    assert abs(ascending[place] - value) == np.abs(ascending - value).min()
    assert place == np.searchsorted(ascending, ascending[place])


@pytest.mark.parametrize("form", ["invariant", "two-stage", "plain"])
def test_pram_has_the_matrix_of_the_method(form: str) -> None:
    frame = people(200)
    masker = PostRandomiser(0.4, form=form, columns=["district"], random_state=0).fit(frame)
    method = methods.build("pram", theta=0.4, form=form)
    assert np.allclose(masker.matrices_["district"], method.matrix(wrap(frame), "district"))  # type: ignore[attr-defined]
    assert masker.categories_["district"].tolist() == ["Eastgate", "Harbour", "Ironhill", "Old Town"]


def test_pram_moves_as_its_matrix_says() -> None:
    rng = np.random.default_rng(5)
    X = rng.choice(3, size=(40_000, 1), p=[0.6, 0.3, 0.1]).astype(float)
    masker = PostRandomiser(0.9, random_state=2)
    masked = masker.fit_transform(X)
    for row in range(3):
        share = np.bincount(masked[X[:, 0] == row, 0].astype(int), minlength=3) / np.sum(X[:, 0] == row)
        assert np.allclose(share, masker.matrices_["x0"][row], atol=0.02)
    assert np.allclose(np.bincount(masked[:, 0].astype(int)), np.bincount(X[:, 0].astype(int)), rtol=0.05)
    assert np.array_equal(PostRandomiser(0).fit_transform(X), X)
    assert not (PostRandomiser(1, form="plain").fit_transform(X) == X).any()


def test_pram_never_publishes_a_category_that_was_not_fitted() -> None:
    fitted = pl.DataFrame({"town": ["a"] * 70 + ["b"] * 30, "rooms": [1] * 50 + [5] * 50})
    masker = PostRandomiser(0, random_state=0).set_output(transform="polars").fit(fitted)
    answer = masker.transform(pl.DataFrame({"town": ["far away"] * 4000, "rooms": [4] * 4000}))
    assert answer["rooms"].unique().to_list() == [5]
    assert set(answer["town"]) == {"a", "b"}
    assert float((answer["town"] == "a").mean()) == pytest.approx(0.7, abs=0.03)  # type: ignore[arg-type]


def test_keyed_draws_are_uniform_and_independent() -> None:
    draws = keyed_draws_of_transformer(np.zeros((50_000, 2), dtype=np.int64), seed=7)
    assert draws.min() >= 0
    assert draws.max() < 1
    counts = np.histogram2d(draws[:, 0], draws[:, 1], bins=10, range=[[0, 1], [0, 1]])[0]
    assert abs(counts - 500).max() < 6 * np.sqrt(500)
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 0.02
    assert np.array_equal(draws, keyed_draws_of_transformer(np.zeros((50_000, 2), dtype=np.int64), seed=7))
    assert not (draws == keyed_draws_of_transformer(np.zeros((50_000, 2), dtype=np.int64), seed=8)).any()


# -- containers --


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("container", ["pandas", "polars"])
@pytest.mark.parametrize("given", ["pandas", "polars"])
def test_frames_of_mixed_columns(cls: Any, container: str, given: str) -> None:
    frame = people(90)
    names = ["age", "school", "born"] if cls is RankSwapper else QUASI
    X = frame.to_pandas().set_index(pd.Index(range(500, 590))) if given == "pandas" else frame
    masker = cls(columns=names, random_state=0).set_output(transform=container)
    masked = masker.fit_transform(X)
    assert isinstance(masked, pd.DataFrame if container == "pandas" else pl.DataFrame)
    assert list(masked.columns) == frame.columns == list(masker.get_feature_names_out())
    if given == container == "pandas":
        assert masked.index.equals(X.index)
        pd.testing.assert_frame_equal(masked[["income"]], X[["income"]])
    default = cls(columns=names, random_state=0).fit_transform(X)
    assert default.dtype == object
    texts = pl.from_pandas(masked) if container == "pandas" else masked
    assert [str(cell) for cell in default[:, 0]] == [str(cell) for cell in texts["age"]]
    again = masker.transform(X[:20])
    assert again.equals(masked[:20])


@pytest.mark.parametrize("cls", [Microaggregator, PostRandomiser])
@pytest.mark.parametrize("given", ["pandas", "polars"])
def test_truth_values_stay_truth_values(cls: Any, given: str) -> None:
    """Also where a new frame does not hold the value it is given."""
    frame = pl.DataFrame({"yes": [True] * 6, "n": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    new = pl.DataFrame({"yes": [False], "n": [3.5]})
    X, Y = (frame.to_pandas(), new.to_pandas()) if given == "pandas" else (frame, new)
    answer = cls(random_state=0).set_output(transform=given).fit(X).transform(Y)
    assert [bool(cell) for cell in answer["yes"]] == [True]
    assert answer["yes"].dtype == X["yes"].dtype


def test_categories_stay_categories() -> None:
    X = pd.DataFrame({"colour": pd.Categorical(["red", "red", "blue", "blue"]), "n": [1.0, 1.1, 9.0, 9.1]})
    masked = Microaggregator(k=2).set_output(transform="pandas").fit_transform(X)
    assert masked["colour"].dtype == X["colour"].dtype
    assert masked["colour"].tolist() == ["red", "red", "blue", "blue"]


def test_object_arrays_hold_text_and_numbers() -> None:
    X = np.array([["a", 1, "1"], ["a", 2, "x"], ["b", 9, "2"], ["b", 8, "x"]], dtype=object)
    masker = Microaggregator(k=2, columns=[0, 1]).fit(X)
    assert masker.transform(X).tolist() == [["a", 1.5, "1"], ["a", 1.5, "x"], ["b", 8.5, "2"], ["b", 8.5, "x"]]
    numbered = Microaggregator(k=2).fit(np.array([["1", 1], ["1", 2], ["x", 8], ["x", 9]], dtype=object))
    assert numbered.transform(np.array([["1", 1]], dtype=object)).tolist() == [["1", 1.5]]  # still text


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool", "float16"])
@pytest.mark.parametrize("cls", ALL)
def test_types_of_arrays(cls: Any, dtype: str) -> None:
    X = np.random.default_rng(0).integers(0, 9, (40, 2)).astype(dtype)
    masked = cls(random_state=0).fit_transform(X)
    moves = cls in (RankSwapper, PostRandomiser)
    assert masked.dtype == (X.dtype if moves or X.dtype.kind == "f" else np.float64)


def test_columns_by_position_and_the_rest_untouched() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 1] = np.nan  # not masked, so it may be missing
    masked = Microaggregator(k=3, columns=[2, 0]).fit_transform(X)
    assert np.array_equal(masked[:, 1], X[:, 1], equal_nan=True)
    assert np.unique(masked[:, [0, 2]], axis=0, return_counts=True)[1].min() >= 3


@pytest.mark.parametrize("cls", ALL)
def test_a_pickled_transformer_answers_alike(cls: Any) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    masker = cls(random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(masker))
    new = np.random.default_rng(1).normal(size=(10, 2))
    assert np.array_equal(again.transform(new), masker.transform(new))


# -- settings --


@pytest.mark.parametrize(
    "masker", [RankSwapper(20), PostRandomiser(0.8), LocalRecoder(3), Microaggregator(3, partitioner="memetic")]
)
def test_a_seed_repeats_the_masking(masker: Any) -> None:
    X = np.random.default_rng(0).integers(0, 12, (60, 2)).astype(float)
    first = masker.set_params(random_state=11).fit_transform(X)
    assert np.array_equal(first, masker.set_params(random_state=11).fit_transform(X))
    assert np.array_equal(first, masker.set_params(random_state=np.random.RandomState(11)).fit_transform(X))
    if type(masker) in (RankSwapper, PostRandomiser):
        assert not np.array_equal(first, masker.set_params(random_state=12).fit_transform(X))
        fresh = masker.set_params(random_state=None)
        assert not np.array_equal(fresh.fit_transform(X), fresh.fit_transform(X))


MOVES: list[tuple[Any, dict[str, Any]]] = [
    (Microaggregator(3), {"k": 6}),
    (Microaggregator(3), {"columns": ["x1"]}),
    (Microaggregator(3), {"partitioner": "univariate"}),
    (Microaggregator(3, partitioner=VMDAV(gamma=0.0)), {"partitioner": VMDAV(gamma=5.0)}),
    (Microaggregator(3), {"numbers": "median"}),
    (Microaggregator(3), {"scaling": "none"}),
    (LatticeGeneraliser(3), {"k": 12}),
    (LatticeGeneraliser(3), {"columns": [0]}),
    (LatticeGeneraliser(12, columns=[0]), {"hierarchies": {"x0": "intervals:3,6"}}),
    (LatticeGeneraliser(3), {"suppression": 0.3}),
    (LatticeGeneraliser(3), {"intervals": "label"}),
    (LocalRecoder(3, random_state=0), {"k": 6}),
    (LocalRecoder(3, random_state=0), {"columns": [0]}),
    (LocalRecoder(3, random_state=0), {"hierarchies": {"x0": "intervals:3,6"}}),
    (LocalRecoder(3, random_state=0), {"intervals": "label"}),
    (LocalRecoder(3, random_state=0), {"effort": 0}),
    (RankSwapper(5, random_state=0), {"percent": 50}),
    (RankSwapper(5, random_state=0), {"columns": [0]}),
    (PostRandomiser(0.2, random_state=0), {"theta": 0.9}),
    (PostRandomiser(0.2, random_state=0), {"form": "plain"}),
    (PostRandomiser(0.2, random_state=0), {"columns": [0]}),
]


@pytest.mark.parametrize("masker,change", MOVES, ids=lambda part: str(part).replace(" ", ""))
def test_every_setting_moves_something(masker: Any, change: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    X = np.stack([rng.integers(0, 10, 80), 100 * rng.integers(0, 8, 80) ** 2], axis=1).astype(float)
    before = masker.fit_transform(X).astype(str)
    assert not np.array_equal(before, type(masker)(**{**masker.get_params(), **change}).fit_transform(X).astype(str))


# -- refusals --

GOOD = np.random.default_rng(0).normal(size=(20, 2))
HOLE = np.where(np.arange(40).reshape(20, 2) == 3, np.nan, GOOD)
SECRET = "Archibald"
REFUSALS: list[tuple[Any, Any, str]] = [
    (Microaggregator(), HOLE, "column 'x1' has 1 missing value (NaN or null), which Microaggregator cannot mask; fill"),
    (
        PostRandomiser(),
        pl.DataFrame({"a": ["x", None, "x"]}),
        "column 'a' has 1 missing value (NaN or null), which PostRandomiser cannot",
    ),
    (LocalRecoder(), np.where(GOOD[0, 0] == GOOD, np.inf, GOOD), "row 1, column 'x0': an infinite value"),
    (Microaggregator(k=21), GOOD, "X has 20 samples and Microaggregator needs at least 21"),
    (LatticeGeneraliser(k=5), GOOD[:1], "X has 1 sample and LatticeGeneraliser needs at least 5"),
    (RankSwapper(), GOOD[:1], "X has 1 sample and RankSwapper needs at least 2"),
    (LocalRecoder(k=1), GOOD, "k is 1; it is a whole number of 2 or more"),
    (LatticeGeneraliser(k=2.5), GOOD, "k is 2.5; it is a whole number of 2 or more"),
    (
        Microaggregator(columns=["agee"]),
        people(30),
        "X has no column 'agee' (did you mean 'age'?); columns: age, income",
    ),
    (Microaggregator(columns=[2]), GOOD, "X has no column 2; columns: x0, x1, or positions from 0 to 1"),
    (Microaggregator(columns=[]), GOOD, "columns names nothing to mask"),
    (Microaggregator(partitioner="madv"), GOOD, "there is no partitioner called 'madv' (did you mean 'mdav'?)"),
    (Microaggregator(categories="median"), people(30), "column 'sex' is nominal and has no median"),
    (
        Microaggregator(k=3, partitioner=MDAV(ending="gomm")),
        GOOD,
        "the partitioner left a group of 2 rows, fewer than k",
    ),
    (LatticeGeneraliser(intervals="middle"), GOOD, "intervals is 'middle'; it may be 'midpoint' or 'label'"),
    (LatticeGeneraliser(hierarchies={"x7": "intervals:1"}), GOOD, "a hierarchy is given for 'x7', which is not among"),
    (LatticeGeneraliser(hierarchies={"x0": "intervals:2,3"}), GOOD, "the width 2 does not divide the next, 3"),
    (LatticeGeneraliser(suppression=2), GOOD, "suppression is 2, that is 200 % of the records"),
    (LatticeGeneraliser(hierarchies={"area": AREAS}), pl.DataFrame({"area": [SECRET] * 4 + ["px1"] * 9}), "lacks"),
    (RankSwapper(percent=0), GOOD, "percent: input should be greater than 0"),
    (RankSwapper(), pl.DataFrame({"name": [SECRET, "b", "c"]}), "column 'name' is nominal, and rank swapping needs an"),
    (RankSwapper(), np.array([[SECRET], ["b"], ["c"]], dtype=object), "column 'x0' is nominal"),
    (PostRandomiser(theta=2), GOOD, "theta: input should be less than or equal to 1"),
    (PostRandomiser(), np.arange(2001.0)[:, None], "column 'x0' has 2001 different values and PostRandomiser keeps"),
    (PostRandomiser(), pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "two columns of X share a name: 'a'"),
]


@pytest.mark.parametrize("masker,X,sentence", REFUSALS, ids=[text[:40] for _, _, text in REFUSALS])
def test_refusals(masker: Any, X: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)) as said:
        masker.fit(X)
    assert SECRET not in str(said.value)


def test_a_column_that_changes_its_type_is_refused() -> None:
    for cls in (Microaggregator, LatticeGeneraliser, PostRandomiser):
        masker = cls(k=2) if cls is not PostRandomiser else PostRandomiser()
        masker.fit(pl.DataFrame({"a": [1, 2, 3, 4]}))
        with pytest.raises(ValueError, match="column 'a' was numeric when fitted and is nominal now; give it the type"):
            masker.transform(pl.DataFrame({"a": ["1", "2"]}))


def test_an_ordered_category_that_was_not_fitted_has_no_rank() -> None:
    fitted = pl.DataFrame({"s": pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b"]))})
    new = pl.DataFrame({"s": pl.Series(["c"], dtype=pl.Enum(["a", "b", "c"]))})
    with pytest.raises(ValueError, match="column 's' holds a category that was not among those fitted"):
        RankSwapper().fit(fitted).transform(new)


# -- pipelines --


def incomes() -> tuple[pl.DataFrame, np.ndarray[Any, Any]]:
    """The built-in example without missing values, and whether an income is above the median."""
    frame = crypsis.to_frame(crypsis.example(1000)).drop_nulls()
    names = ["age", "sex", "district", "education", "marital", "occupation", "hours"]
    return frame.select(names), (frame["income"] > frame["income"].median()).to_numpy()


def model(masker: Any) -> Pipeline:
    text = ["sex", "district", "education", "marital", "occupation"]
    coding = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), text), (StandardScaler(), ["age", "hours"])
    )
    return make_pipeline(masker.set_output(transform="polars"), coding, LogisticRegression(max_iter=1000))


@pytest.mark.parametrize("masker", [Microaggregator(), LocalRecoder(random_state=0), PostRandomiser(random_state=0)])
def test_a_model_learns_from_masked_people(masker: Any) -> None:
    X, y = incomes()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    fitted = model(masker).fit(X_train, y_train)
    chance = DummyClassifier().fit(X_train, y_train).score(X_test, y_test)
    assert fitted.score(X_test, y_test) > chance + 0.1
    if not isinstance(masker, PostRandomiser):
        learnt_from = fitted[0].transform(X_train)
        assert smallest_class(learnt_from, X.columns) >= 5


def test_k_can_be_searched_and_the_transformer_follows_an_imputer() -> None:
    X, y = incomes()
    search = GridSearchCV(model(Microaggregator()), {"microaggregator__k": [3, 30]}, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert scores.min() > 0.55
    holes = crypsis.to_frame(crypsis.example(120)).select(X.columns).to_pandas()
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), Microaggregator(k=4))
    masked = pd.DataFrame(filled.fit_transform(holes))
    assert masked.groupby(list(masked.columns)).size().min() >= 4


def test_levels_rise_with_k() -> None:
    X, _ = incomes()
    columns = ["age", "sex", "marital"]
    sums = [sum(LatticeGeneraliser(k, columns=columns).fit(X).levels_.values()) for k in (2, 10, 100, len(X))]
    assert all(low <= high for low, high in pairwise(sums))
    assert sums[0] < sums[-1]


@pytest.mark.parametrize(
    "masker",
    [
        Microaggregator(3), LocalRecoder(3), LatticeGeneraliser(3, suppression=0.3), RankSwapper(20),
        PostRandomiser(0.4),
    ],
    ids=lambda masker: type(masker).__name__,
)  # fmt: skip
def test_fitted_rows_are_forgotten_and_new_rows_still_masked(masker: Any) -> None:
    """No fitted row stands in the fitted object afterwards, and what is done to new rows stays the same."""
    rng = np.random.default_rng(3)
    first = rng.permutation(np.arange(100.0, 700.0, 10.0))
    X = np.stack([first, 9000.0 - 10.0 * first], axis=1)  # columns sorted apart make no fitted row again
    new = np.stack([rng.integers(100, 900, 20), rng.integers(2000, 9000, 20)], axis=1) + 0.5
    fitted = clone(masker).set_params(random_state=0).fit(X)
    before = fitted.transform(new)
    assert fitted.forget_rows() is fitted
    assert np.array_equal(before, fitted.transform(new))
    together = {tuple(row) for row in X.tolist()}
    held = [
        value for name, value in vars(fitted).items() if isinstance(value, Table) and name != "_shared"
    ]  # published
    held += [value for value in vars(fitted).values() if isinstance(value, np.ndarray) and value.ndim == 2]
    for each in held:
        columns = each.columns if isinstance(each, Table) else each.T
        assert not together & set(zip(*(np.asarray(column).tolist() for column in columns), strict=True))
    assert fitted.fit(X).transform(X).shape == X.shape, "fitted again, rows are recognised again"
    assert np.array_equal(fitted.transform(X), clone(masker).set_params(random_state=0).fit_transform(X))


def test_the_former_name_of_post_randomisation_warns() -> None:
    with pytest.warns(DeprecationWarning, match="PostRandomiser"):
        from crypsis.sklearn import Pram
    assert Pram is PostRandomiser
