"""Every public function that takes a table takes a pandas, polars or pyarrow frame of the same records as well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crypsis
from crypsis.errors import PlanError, TableError
from crypsis.table.aligning import aligned_pair, read_aligned_frame
from crypsis.table.frames import as_table
from waiving import waiving

LIBRARIES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "pyarrow": lambda frame: frame.to_arrow(),
}


@pytest.fixture(params=LIBRARIES)
def as_frame(request: pytest.FixtureRequest) -> Callable[[crypsis.Table], Any]:
    return lambda table: LIBRARIES[request.param](crypsis.to_frame(table))


@pytest.fixture(scope="module")
def table() -> crypsis.Table:
    return crypsis.example(80, seed=3)


@pytest.fixture(scope="module")
def masked(table: crypsis.Table) -> crypsis.Table:
    """Numbers averaged, categories replaced by the commonest of a cluster: same categories, rows in order."""
    return crypsis.Microaggregation(k=4).mask(table, np.random.default_rng(0))


def test_a_table_stays_itself_and_a_frame_gets_its_roles(table: crypsis.Table) -> None:
    assert as_table(table) is table
    frame = crypsis.to_frame(table)
    assert as_table(frame).names_by_role(crypsis.Role.UNDECIDED) == list(table.names)
    wrapped = crypsis.wrap(frame, quasi_identifiers=["age"], confidential=["income"], identifiers=["person"])
    assert wrapped.names_by_role(*crypsis.Role) == list(table.names)
    assert wrapped.quasi_identifiers == ["age"]


def test_roles_given_with_a_table_are_refused(table: crypsis.Table) -> None:
    with pytest.raises(TableError, match="a table has its roles"):
        crypsis.protect(table, quasi_identifiers=["age"])


@pytest.mark.parametrize("data", [{"age": [1, 2]}, [[1, 2]], None, 7, pl.LazyFrame({"age": [1]})])
def test_what_is_no_table_is_refused_in_a_sentence(data: Any) -> None:
    with pytest.raises(TableError, match=r"is no table; give a crypsis\.Table, a pandas"):
        as_table(data)


def test_profile(table: crypsis.Table, as_frame: Callable[[crypsis.Table], Any]) -> None:
    bare = crypsis.wrap(crypsis.to_frame(table))
    assert asdict(crypsis.profile(as_frame(table))) == asdict(crypsis.profile(bare))


def test_assess(table: crypsis.Table, masked: crypsis.Table, as_frame: Callable[[crypsis.Table], Any]) -> None:
    chosen = ["cell-loss", "record-linkage"]
    expected = crypsis.assess(table, masked, chosen).to_dict()
    assert crypsis.assess(table, as_frame(masked), chosen).to_dict() == expected
    assert crypsis.assess(as_frame(table), masked, chosen).to_dict() == expected
    loss = {"loss": crypsis.CellLoss(columns=("hours",))}
    of_frames = crypsis.assess(as_frame(table), as_frame(masked), loss)
    assert of_frames["cell-loss"].value == crypsis.assess(table, masked, loss)["cell-loss"].value


def test_attack(table: crypsis.Table, masked: crypsis.Table, as_frame: Callable[[crypsis.Table], Any]) -> None:
    intruder = crypsis.Intruder(attempts=20)
    control = crypsis.example(40, seed=9)
    expected = crypsis.attack(masked, table, control=control, second=masked, intruder=intruder)
    found = crypsis.attack(
        as_frame(masked), table, control=as_frame(control), second=as_frame(masked), intruder=intruder
    )
    assert [(each.attack, each.rate, each.control) for each in found.outcomes] == [
        (each.attack, each.rate, each.control) for each in expected.outcomes
    ]
    knows = crypsis.Intruder(attempts=20, knows=("age", "sex"))
    assert crypsis.attack(as_frame(masked), as_frame(table), intruder=knows).outcomes


def test_write_table(table: crypsis.Table, as_frame: Callable[[crypsis.Table], Any], tmp_path: Path) -> None:
    crypsis.write_table(table, tmp_path / "table.csv")
    crypsis.write_table(as_frame(table), tmp_path / "frame.csv")
    one, other = (crypsis.read_table(tmp_path / name) for name in ("table.csv", "frame.csv"))
    assert one.fingerprint() == other.fingerprint()


def test_evaluate_lattice(as_frame: Callable[[crypsis.Table], Any], table: crypsis.Table) -> None:
    with pytest.raises(TableError, match="'age' has no hierarchy"):
        crypsis.evaluate_lattice(as_frame(table), columns=("age",))
    with pytest.raises(TableError, match="at least one quasi-identifier"):
        crypsis.evaluate_lattice(as_frame(table))


def test_publish(
    table: crypsis.Table, masked: crypsis.Table, as_frame: Callable[[crypsis.Table], Any], tmp_path: Path
) -> None:
    models = [crypsis.KAnonymity(k=4)]
    bare, hidden = table.drop(["person"]), masked.drop(["person"])
    for name, original, release in (("frame", bare, as_frame(hidden)), ("original", as_frame(bare), hidden)):
        crypsis.publish(
            release, tmp_path / name, models=models, original=original, order="kept", waivers=waiving("income")
        )
    crypsis.publish(hidden, tmp_path / "table", models=models, original=bare, order="kept", waivers=waiving("income"))
    files = [(tmp_path / name / "public" / "data.csv").read_bytes() for name in ("frame", "original", "table")]
    assert files[0] == files[1] == files[2]


def test_a_frame_without_roles_cannot_evolve(as_frame: Callable[[crypsis.Table], Any], table: crypsis.Table) -> None:
    with pytest.raises(PlanError, match="a frame has no roles") as refused:
        crypsis.evolve(as_frame(table))
    assert "\n" not in str(refused.value)


# -- side by side --


def test_a_frame_beside_a_table_takes_its_attributes(table: crypsis.Table, masked: crypsis.Table) -> None:
    original, again = aligned_pair(crypsis.to_frame(table), masked)
    assert again is masked
    assert original.fingerprint() == table.fingerprint()
    assert [a.hierarchy for a in original.attributes] == [a.hierarchy for a in table.attributes]


def test_a_frame_that_does_not_fit_is_refused(table: crypsis.Table) -> None:
    frame = crypsis.to_frame(table)
    with pytest.raises(TableError, match="lacks the columns age"):
        read_aligned_frame(table, frame.drop("age"))
    with pytest.raises(TableError, match="'age' is nominal in the frame and numeric in the table"):
        read_aligned_frame(table, frame.with_columns(pl.col("age").cast(pl.String) + " years"))
    with pytest.raises(TableError, match="1 of its values are not in the given list"):
        read_aligned_frame(table, frame.with_columns(pl.lit("third").alias("sex")))
