"""A household survey whose households are not published: fellows are recognised by what they share."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.audits.dependence import dependence
from crypsis.audits.household_inference import fellows
from crypsis.audits.published import Published
from crypsis.table.attribute import Role
from crypsis.table.builders import build_hierarchy
from crypsis.table.table import Table

DWELLING = ("roof", "walls", "water", "rooms")


def survey(homes: int = 250, seed: int = 0, size: int = 0) -> Table:
    """People in households; region and dwelling are those of the household, age and job are not."""
    rng = np.random.default_rng(seed)
    members = np.full(homes, size) if size else rng.integers(1, 6, homes)
    home = np.repeat(np.arange(homes), members)
    region = rng.choice(12, homes, p=np.arange(12, 0, -1) / 78)
    columns = {
        "home": home.tolist(),
        "region": [f"r{n}" for n in region[home]],
        "age": rng.integers(0, 90, len(home)).tolist(),
        "spending": np.round(rng.lognormal(7, 0.6, homes), 2)[home].tolist(),
        "job": [f"j{n}" for n in rng.integers(0, 6, len(home))],
        **{name: [f"{name} {n}" for n in rng.integers(0, 5, homes)[home]] for name in DWELLING},
    }
    roles = {"home": "household", "region": "quasi", "age": "quasi", "spending": "confidential", "job": "other"}
    return Table.from_columns(columns, roles | dict.fromkeys(DWELLING, "other"))


def recoded(table: Table, share: float = 0.2, seed: int = 1) -> Table:
    """The region of some people is left out."""
    region = table.column("region").copy()
    region[np.random.default_rng(seed).random(len(table)) < share] = -1
    return table.with_columns({"region": region})


def named_right(table: Table, published: Table, names: list[str]) -> int:
    """What an intruder reads from the file: hidden regions of records whose look-alikes all show one, the right one."""
    rows = list(zip(*(published.column(name).tolist() for name in names), strict=True))
    shown, true = published.column("region").tolist(), table.column("region").tolist()
    found = 0
    for i, key in enumerate(rows):
        if shown[i] < 0:
            seen = {shown[j] for j, other in enumerate(rows) if other == key and shown[j] >= 0}
            found += seen == {true[i]}
    return found


@pytest.mark.parametrize("kept", [("spending",), DWELLING, ("spending", *DWELLING)])
def test_fellows_restore_a_region_although_no_household_is_published(kept: tuple[str, ...]) -> None:
    table = survey().with_roles({name: Role.IDENTIFIER for name in ("spending", *DWELLING) if name not in kept})
    published = recoded(table)
    hidden = int((published.column("region") < 0).sum())
    assert named_right(table, published, list(kept)) > 0.3 * hidden, "the attack succeeds"
    (found,) = fellows(Published(published, table))
    assert found.columns == (*kept, "region")
    assert found.refuses
    assert 0.2 < found.share <= named_right(table, published, list(kept)) / hidden
    assert not crypsis.audit(published, table).sound


def test_two_people_who_share_an_amount_are_found_without_knowing_the_households() -> None:
    table = survey(size=2).with_roles(dict.fromkeys(("home", *DWELLING), Role.IDENTIFIER))
    (found,) = dependence(Published(recoded(table), table))
    assert found.columns == ("spending", "region")
    assert found.share > 0.8


def test_a_region_masked_for_all_fellows_is_not_restored() -> None:
    """Whole households are masked, or nothing shared is published."""
    table = survey()
    region = table.column("region").copy()
    region[table.column("home") % 3 == 0] = -1
    whole = table.with_columns({"region": region}).with_roles(dict.fromkeys(DWELLING, Role.IDENTIFIER))
    before = table.with_roles(dict.fromkeys(DWELLING, Role.IDENTIFIER))
    assert fellows(Published(whole, before)) == []
    bare = dict.fromkeys(("spending", *DWELLING), Role.IDENTIFIER)
    assert fellows(Published(recoded(table).with_roles(bare), table.with_roles(bare))) == []


def test_columns_that_are_not_of_the_household_accuse_nobody() -> None:
    """Sixty surveys in which jobs and ages have nothing to do with where people live."""
    accused = 0
    for seed in range(60):
        table = survey(120, seed).with_roles(dict.fromkeys(("spending", *DWELLING), Role.IDENTIFIER))
        accused += bool(fellows(Published(recoded(table, seed=seed), table)))
    assert accused == 0


def test_a_release_of_a_recoded_region_is_refused_or_safe() -> None:
    """Local recoding of region and age: what is published of the dwelling must not give the region back."""
    table = survey(150)
    built = {
        name: table.attribute(name).but(hierarchy=build_hierarchy(spec, table.attribute(name), table.column(name)))
        for name, spec in {"region": "merge:6,3", "age": "intervals:10,30"}.items()
    }
    table = table.with_columns({}, attributes=built)
    masked = crypsis.LocalRecoding(k=5).mask(table, np.random.default_rng(0))
    keys = {each.key for each in crypsis.audit(masked, table).open}
    assert any(key.startswith("dependence:") for key in keys)
    as_quasi = dict.fromkeys(("spending", *DWELLING), Role.QUASI_IDENTIFIER)
    covered = crypsis.Microaggregation(k=5).mask(table.with_roles(as_quasi), np.random.default_rng(0))
    assert not [each for each in crypsis.audit(covered, table.with_roles(as_quasi)).open if each.kind == "dependence"]
