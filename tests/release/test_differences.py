"""Two releases side by side: what changed, and what they reveal together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crypsis.errors import CrypsisError
from crypsis.privacy import KAnonymity
from crypsis.release import ReleaseDescription, compare_releases, publish
from crypsis.release.differences import distance_between_releases
from crypsis.table.table import Table
from waiving import waiving

ROLES = {"region": "quasi", "age": "quasi", "income": "confidential"}


def people(regions: list[str], ages: list[float], incomes: list[float]) -> Table:
    return Table.from_columns({"region": regions, "age": ages, "income": incomes}, roles=ROLES)


def release(table: Table, folder: Path, amount: str = "income") -> Path:
    """The table as it stands, in its own order, as a release that keeps k = 2."""
    description = ReleaseDescription("Test", "Grouped.", "aggregation")
    return publish(
        table, folder, models=[KAnonymity(k=2)], description=description, order="kept", waivers=waiving(amount)
    )


@pytest.fixture
def crossed(tmp_path: Path) -> tuple[Path, Path]:
    """Eight people in classes of four by region, then in classes of four by age: each crossing holds two."""
    incomes = [10.0, 20, 30, 40, 50, 60, 70, 80]
    by_region = people(["n"] * 4 + ["s"] * 4, [40.0] * 8, incomes)
    by_age = people(["all"] * 8, [30.0, 30, 50, 50, 30, 30, 50, 50], incomes)
    return release(by_region, tmp_path / "old"), release(by_age, tmp_path / "new")


def test_classes_that_cross_reveal_more_by_hand(crossed: tuple[Path, Path]) -> None:
    pair = compare_releases(*crossed).pair
    assert pair.joined_by == ("income",)
    assert pair.linked == 8
    assert pair.smallest_class == (4, 4)
    assert (pair.alone, pair.below) == (0, 8), "everybody shares both classes with two, fewer than four"
    assert pair.reveals_more


def test_someone_alone_in_the_pair_by_hand(tmp_path: Path) -> None:
    """Classes {1,2,3} {4,5,6} and {1,4} {2,3,5,6}: 1 and 4 are alone where the classes cross."""
    incomes = [1.0, 2, 3, 4, 5, 6]
    old = release(people(["n"] * 3 + ["s"] * 3, [0.0] * 6, incomes), tmp_path / "old")
    new = release(people(["x", "y", "y", "x", "y", "y"], [0.0] * 6, incomes), tmp_path / "new")
    pair = compare_releases(old, new).pair
    assert (pair.linked, pair.alone, pair.below) == (6, 2, 2)


def test_values_held_twice_are_not_surely_one_person_but_keep_company(tmp_path: Path) -> None:
    """Income 1 occurs twice in each file: nobody is linked by it, but whoever is linked may hide behind them."""
    incomes = [1.0, 1, 3, 4]
    old = release(people(["n"] * 4, [0.0] * 4, incomes), tmp_path / "old")
    new = release(people(["x"] * 4, [0.0] * 4, incomes[::-1]), tmp_path / "new")
    pair = compare_releases(old, new).pair
    assert (pair.linked, pair.alone, pair.below) == (2, 0, 0)


def test_the_same_release_twice_reveals_nothing_new(crossed: tuple[Path, Path]) -> None:
    found = compare_releases(crossed[0], crossed[0])
    assert found.same_data
    assert not found.pair.reveals_more
    assert all(change.old == change.new for change in (found.rows, *found.verdicts, *found.losses))
    assert all(change.new == 0 for change in found.distributions)
    assert found.columns_changed == {}


def test_files_without_a_common_unmasked_column_cannot_be_joined(tmp_path: Path) -> None:
    old = release(people(["n"] * 4, [1.0] * 4, [1.0, 2, 3, 4]), tmp_path / "old")
    other = Table.from_columns(
        {"region": ["n"] * 4, "wage": [1.0, 2, 3, 4]}, roles={"region": "quasi", "wage": "other"}
    )
    found = compare_releases(old, release(other, tmp_path / "new", "wage"))
    assert found.columns_added == ("wage",)
    assert found.columns_removed == ("age", "income")
    assert found.pair.joined_by == ()
    assert not found.pair.reveals_more


def test_a_quasi_identifier_left_as_collected_joins_too(tmp_path: Path) -> None:
    table = people(["n"] * 2 + ["s"] * 2, [1.0] * 4, [1.0, 1, 1, 1])
    folders = [
        publish(
            table,
            tmp_path / name,
            models=[KAnonymity(k=2)],
            original=table,
            description=ReleaseDescription(family="recoding"),
        )
        for name in ("old", "new")
    ]
    assert compare_releases(*folders).pair.joined_by == ("region", "age", "income")


def test_what_changed_is_told(crossed: tuple[Path, Path], tmp_path: Path) -> None:
    found = compare_releases(*crossed)
    assert "2 → 1 categories" in found.columns_changed["region"]
    shifts = {change.name: change.new for change in found.distributions}
    assert shifts["region"] == pytest.approx(100)
    assert shifts["income"] == 0
    longer = people(["n"] * 6 + ["s"] * 4, [40.0] * 10, [float(v) for v in range(10)])
    grown = compare_releases(crossed[0], release(longer, tmp_path / "longer"))
    assert (grown.rows.old, grown.rows.new) == (8, 10)
    assert json.dumps(grown.unknown)


def test_distances_by_hand() -> None:
    one = people(["a", "a", "b", "c"], [1.0, 2, 3, 4], [0.0] * 4)
    other = people(["a", "b", "b", "c"], [1.0, 2, 4, 5], [0.0] * 4)
    assert distance_between_releases(one, other, "region") == pytest.approx(25)
    assert distance_between_releases(one, other, "age") == pytest.approx(25), "at 3 the shares below are ¾ and ½"
    assert distance_between_releases(one, one.take(np.arange(0)), "age") == 100


def test_a_perturbed_file_is_named_as_unknown(tmp_path: Path, crossed: tuple[Path, Path]) -> None:
    manifest = crossed[1] / "public" / "manifest.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(content | {"family": "perturbation"}), encoding="utf-8")
    assert any("perturbed" in each for each in compare_releases(*crossed).unknown)


def test_a_folder_that_is_no_release(tmp_path: Path, crossed: tuple[Path, Path]) -> None:
    with pytest.raises(CrypsisError, match="not a release"):
        compare_releases(crossed[0], tmp_path)
