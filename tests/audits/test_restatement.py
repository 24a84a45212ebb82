"""Texts, codes and dates that say what was masked or left out; and what is none of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from crypsis.audits import FindingKind, audit
from crypsis.audits.tokens import tokens_of_code, tokens_of_text
from crypsis.masking import Microaggregation
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table
from crypsis.text import attack_finding_text

ROWS = 240
NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")


def people(rng: np.random.Generator) -> dict[str, list[Any]]:
    return {
        "name": [f"{NAMES[n % 8]} Person{7001 + n}" for n in range(ROWS)],
        "part": [str(each) for each in rng.choice(list("ABCDEFGHIJKLMNOP"), ROWS)],
        "born": [float(each) for each in rng.integers(1930, 2005, ROWS)],
        "zip": [f"{10000 + 37 * int(each)}" for each in rng.integers(0, 40, ROWS)],
        "illness": [str(each) for each in rng.choice(["flu", "gout", "none"], ROWS)],
    }


ROLES = {"name": "identifier", "part": "quasi", "born": "quasi", "zip": "quasi", "illness": "confidential"}


def found(columns: dict[str, Any], **roles: str) -> dict[FindingKind, list[tuple[str, ...]]]:
    """Columns of the findings that stop a release, by kind; singling out is none of the questions here."""
    table = Table.from_columns(columns, ROLES | roles)
    masked = Microaggregation(k=5).mask(table, np.random.default_rng(1))
    kinds: dict[FindingKind, list[tuple[str, ...]]] = {}
    for each in audit(masked, table).findings:
        if each.kind in (FindingKind.RESTATED, FindingKind.DEPENDENCE):
            kinds.setdefault(each.kind, []).append(each.columns)
    return kinds


TEXTS: dict[str, tuple[Callable[[dict[str, list[Any]], int], str], FindingKind, set[str]]] = {
    "a note with the name": (lambda c, n: f"saw {c['name'][n].upper()} again", FindingKind.RESTATED, {"name"}),
    "a note with the last name": (lambda c, n: f"Mr {c['name'][n].split()[1]}", FindingKind.RESTATED, {"name"}),
    "an address with the zip": (lambda c, n: f"{n} Main Street, {c['zip'][n]} Town", FindingKind.RESTATED, {"zip"}),
    "a code with part and year": (
        lambda c, n: f"{c['part'][n]}-{c['born'][n]:.0f}-{n:03d}",
        FindingKind.RESTATED,
        {"part", "born"},
    ),
    "a number with the year within": (lambda c, n: f"{c['born'][n]:.0f}{n:04d}", FindingKind.RESTATED, {"born"}),
    "a code that says the part otherwise": (
        lambda c, n: f"{chr(145 - ord(c['part'][n]))}{n:03d}",
        FindingKind.DEPENDENCE,
        {"part"},
    ),
    "two digits of the year": (
        lambda c, n: f"{n % 28 + 1:02d}{n % 12 + 1:02d}{c['born'][n] % 100:02.0f}{n:04d}",
        FindingKind.DEPENDENCE,
        {"born"},
    ),
}


@pytest.mark.parametrize("plant", TEXTS)
def test_a_text_that_says_what_is_masked_is_found(plant: str) -> None:
    say, kind, wanted = TEXTS[plant]
    columns = people(np.random.default_rng(3))
    columns["text"] = [say(columns, n) for n in range(ROWS)]
    told = found(columns, text="other").get(kind, [])
    assert any(each[0] == "text" and wanted <= set(each[1:]) for each in told)


@pytest.mark.parametrize("seed", range(4))
def test_texts_and_codes_that_say_nothing_raise_no_alarm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = people(rng)
    columns["case"] = [f"K{n:05d}" for n in rng.permutation(ROWS)]
    columns["note"] = [f"{rng.choice(['A', 'B', 'x'])} came {rng.integers(1930, 2005)}" for _ in range(ROWS)]
    columns["number"] = [float(each) for each in rng.integers(10**6, 10**7, ROWS)]
    columns["day"] = np.datetime64("2020-01-01") + rng.integers(0, 2000, ROWS)
    assert found(columns, case="other", note="other", number="other", day="confidential") == {}


@pytest.mark.parametrize("copied", [0.4, 1.0])
def test_columns_coded_alike_are_looked_at_for_dependence_alone(copied: float) -> None:
    """Two columns of 0 and 1 that go together are an association; one that says all of a hidden one restores it."""
    rng = np.random.default_rng(3)
    columns = people(rng)
    columns["part"] = [str(each) for each in rng.integers(0, 2, ROWS)]
    columns["hormone"] = [each if rng.random() < copied else str(rng.integers(0, 2)) for each in columns["part"]]
    table = Table.from_columns(columns, ROLES | {"hormone": "confidential"})
    hidden = table.with_columns({"part": np.full(ROWS, MISSING, dtype=np.int32)})
    told = [each.kind for each in audit(hidden, table).findings if each.columns[:2] == ("hormone", "part")]
    assert told == ([FindingKind.DEPENDENCE] if copied == 1.0 else [])


def test_a_quasi_identifier_may_say_another_and_not_a_name() -> None:
    columns = people(np.random.default_rng(3))
    columns["town"] = [f"town {each}" for each in columns["zip"]]
    assert FindingKind.RESTATED not in found(columns, town="quasi")


def dated(rng: np.random.Generator) -> dict[str, Any]:
    columns: dict[str, Any] = people(rng)
    born = np.array([np.datetime64(f"{each:.0f}-01-01") for each in columns["born"]])
    columns["birth"] = born + rng.integers(0, 365, ROWS)
    columns["came"] = np.datetime64("2015-01-01") + rng.integers(0, 2000, ROWS)
    columns["stay"] = [float(each) for each in rng.integers(1, 30, ROWS)]
    columns["left"] = columns["came"] + np.array(columns["stay"]).astype(int)
    columns["age"] = ((columns["came"] - columns["birth"]).astype(int) // 365.2425).tolist()
    return columns


def test_a_stay_follows_from_two_dates_and_a_date_from_another_and_the_stay() -> None:
    columns = dated(np.random.default_rng(2))
    fixed = {"birth": "identifier", "came": "other", "left": "other", "stay": "quasi", "age": "quasi"}
    assert ("came", "left", "stay") in found(columns, **fixed)[FindingKind.DEPENDENCE]
    fixed |= {"came": "quasi", "stay": "other"}
    assert any(each[-1] == "came" for each in found(columns, **fixed)[FindingKind.DEPENDENCE])


def test_an_age_follows_from_two_dates() -> None:
    columns = dated(np.random.default_rng(2))
    columns["came"] = np.datetime64("1990-01-01") + np.random.default_rng(5).integers(0, 9000, ROWS)
    columns["age"] = ((columns["came"] - columns["birth"]).astype(int) // 365.2425).tolist()
    fixed = {"birth": "other", "came": "other", "left": "identifier", "stay": "quasi", "age": "quasi", "born": "other"}
    restored = [each for each in found(columns, **fixed)[FindingKind.DEPENDENCE] if each[-1] == "age"]
    assert restored


def test_the_year_of_a_date_restores_the_year_of_birth() -> None:
    columns = dated(np.random.default_rng(2))
    fixed = {"birth": "confidential", "came": "identifier", "left": "identifier", "stay": "quasi", "age": "quasi"}
    assert any(each[0] == "birth" and "born" in each[1:] for each in found(columns, **fixed)[FindingKind.DEPENDENCE])


def test_dates_that_have_nothing_to_do_with_it_raise_no_alarm() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        columns: dict[str, Any] = people(rng)
        columns["came"] = np.datetime64("2015-01-01") + rng.integers(0, 2000, ROWS)
        columns["left"] = columns["came"] + rng.integers(0, 30, ROWS)
        assert found(columns, came="confidential", left="confidential") == {}


def test_the_sentence_names_text_and_value() -> None:
    columns = people(np.random.default_rng(3))
    columns["text"] = [f"about {name}" for name in columns["name"]]
    table = Table.from_columns(columns, ROLES | {"text": "other"})
    (each,) = [one for one in audit(table, table).findings if one.kind is FindingKind.RESTATED]
    assert each.refuses
    assert each.key == "restated:text"
    assert (
        attack_finding_text(each)
        == "text says the value of name of the same record beyond chance, in 99.6 % of them: 239"
    )


def test_words_and_parts() -> None:
    assert tokens_of_text("Zoë O'Neil, 007") == {"zoë", "o", "neil", "7"}
    assert tokens_of_code("") == {}
    assert tokens_of_code("120375-12")["0:4+2"] == "75"
