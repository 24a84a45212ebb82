"""A built-in table of invented people, with correlations and rare records as in real tables."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.builders import build_hierarchy
from crypsis.table.frames import wrap
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

# region and part of the country: district, share of the people, wage level
INVENTED = "invented people: nobody knows them"
"""Why nobody outside knows the confidential columns of the example."""

REGIONS = {
    ("Capital", "South"): (("Harbour", 0.16, 1.18), ("Old Town", 0.12, 1.12), ("Eastgate", 0.11, 1.02)),
    ("River Plain", "South"): (("Vineyards", 0.10, 0.98), ("Mill Valley", 0.09, 0.95), ("Saltmarsh", 0.07, 0.92)),
    ("Coast", "North"): (("Northport", 0.10, 1.00), ("Lighthouse", 0.06, 0.93), ("Fishers Bay", 0.04, 0.88)),
    ("Highlands", "North"): (("Ironhill", 0.08, 0.94), ("Deepwood", 0.05, 0.86), ("Stone Pass", 0.02, 0.84)),
}
DISTRICTS = tuple((name, *region, share, wage) for region, places in REGIONS.items() for name, share, wage in places)
# level of education, its group, its effect on the logarithm of the wage
EDUCATION = (
    ("none", "basic", -0.25),
    ("primary", "basic", -0.15),
    ("secondary", "middle", 0.0),
    ("vocational", "middle", 0.08),
    ("bachelor", "higher", 0.32),
    ("master", "higher", 0.48),
    ("doctorate", "higher", 0.62),
)
# occupation, field, sector, education (from, to), wage effect, share of women among its people
OCCUPATIONS = (
    ("farmer", "land and sea", "production", (0, 3), -0.20, 0.3),
    ("fisher", "land and sea", "production", (0, 2), -0.15, 0.1),
    ("builder", "crafts", "production", (0, 3), 0.00, 0.1),
    ("electrician", "crafts", "production", (2, 3), 0.10, 0.1),
    ("machine operator", "industry", "production", (1, 3), 0.02, 0.3),
    ("engineer", "industry", "production", (4, 6), 0.18, 0.3),
    ("driver", "trade and transport", "services", (0, 2), -0.05, 0.1),
    ("shop assistant", "trade and transport", "services", (0, 3), -0.18, 0.7),
    ("cook", "trade and transport", "services", (0, 3), -0.15, 0.5),
    ("clerk", "office", "services", (2, 4), 0.00, 0.6),
    ("accountant", "office", "services", (3, 5), 0.12, 0.5),
    ("manager", "office", "services", (4, 6), 0.35, 0.4),
    ("nurse", "care and teaching", "services", (3, 4), 0.02, 0.8),
    ("physician", "care and teaching", "services", (5, 6), 0.45, 0.5),
    ("teacher", "care and teaching", "services", (4, 6), 0.02, 0.7),
    ("judge", "office", "services", (5, 6), 0.55, 0.5),
)
MARITAL = ("single", "married", "divorced", "widowed")
# diagnosis, odds at 50 against none, and how its logarithm grows with ten years of age
DIAGNOSES = (
    ("none", 1.0, 0.0),
    ("asthma", 0.07, -0.05),
    ("depression", 0.10, 0.0),
    ("back pain", 0.16, 0.15),
    ("hypertension", 0.15, 0.45),
    ("diabetes", 0.08, 0.40),
    ("heart disease", 0.05, 0.60),
    ("cancer", 0.04, 0.45),
)
# people everybody in the district knows: age, sex, district, education, marital, occupation, income, diagnosis
RARE = (
    (101, "female", "Stone Pass", "doctorate", "widowed", "judge", 61_200, "none"),
    (23, "male", "Fishers Bay", "doctorate", "married", "physician", 148_300, "Huntington disease"),
    (19, "female", "Harbour", "none", "widowed", "fisher", 7_900, "asthma"),
    (67, "male", "Deepwood", "master", "divorced", "manager", 912_000, "cystic fibrosis"),
)
RETIREMENT = 66


def example(n: int = 1000, seed: int = 0) -> Table:
    """Make a table of invented people.

    Identifier: person. Quasi-identifiers, each with a hierarchy: age, sex, district, education, marital, occupation,
    hours. Confidential: income, diagnosis. Some values are missing, and a few people are rare.

    Parameters
    ----------
    n : int
        Number of people, at least 1.
    seed : int
        The same seed gives the same table.

    Returns
    -------
    Table
        People with correlated columns.

    Raises
    ------
    TableError
        If n is below 1.

    Examples
    --------
    >>> crypsis.example(200).quasi_identifiers
    ['age', 'sex', 'district', 'education', 'marital', 'occupation', 'hours']
    """
    if n < 1:
        raise TableError(f"an example of {n} people is wanted; give 1 or more")
    rng = np.random.default_rng(seed)
    age = np.clip(np.round(18 + 72 * rng.beta(1.5, 2.1, n)), 18, 95)
    female = rng.random(n) < 0.51 + 0.002 * np.maximum(age - 65, 0)
    district = rng.choice(len(DISTRICTS), n, p=np.array([d[3] for d in DISTRICTS]))
    education = _education(age, district, rng)
    occupation = _occupation(education, female, rng)
    hours = _hours(age, female, rng)
    columns = {
        "person": np.array([f"P{number:06d}" for number in rng.permutation(n) + 1]),
        "age": age,
        "sex": np.where(female, "female", "male"),
        "district": np.array([d[0] for d in DISTRICTS])[district],
        "education": np.array([e[0] for e in EDUCATION])[education],
        "marital": np.array(MARITAL)[_marital(age, rng)],
        "occupation": np.array([o[0] for o in OCCUPATIONS])[occupation],
        "hours": hours,
        "income": _income(age, female, district, education, occupation, hours, rng),
        "diagnosis": np.array([d[0] for d in DIAGNOSES])[_diagnosis(age, rng)],
    }
    frame = pl.DataFrame(columns).with_columns(pl.col("age", "hours", "income").cast(pl.Int64))
    frame = _with_missing(_with_rare_people(frame, rng), rng)
    return _describe_table(frame)


def example_pair(kind: Literal["categories", "numbers", "levels"]) -> tuple[Table, Table]:
    """Make a small table and a masked version of it, for trying measures.

    Parameters
    ----------
    kind : {"categories", "numbers", "levels"}
        Five records of which one changed its town, five records with one of three numeric columns
        microaggregated, or a hundred people whose quasi-identifiers are two levels up.

    Returns
    -------
    original, masked : Table

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> original.column("y").tolist(), masked.column("y").tolist()
    ([2.0, 1.0, 4.0, 3.0, 5.0], [1.5, 1.5, 3.5, 3.5, 5.0])
    """
    if kind == "levels":
        many = example(100, seed=1)
        heights = {name: min(2, built.height) for name, built in hierarchies().items()}
        lifted = {name: hierarchies()[name].lift(many.leaf_codes(name), level) for name, level in heights.items()}
        return many, many.with_columns(lifted, heights)
    if kind == "categories":
        people = {"town": ["a", "a", "a", "b", "b"], "illness": ["flu", "flu", "cold", "flu", "cold"]}
        original = Table.from_columns(people, roles={"town": "quasi", "illness": "confidential"})
        return original, original.with_columns({"town": np.array([0, 0, 1, 1, 1])})
    values = {"x": [1, 2, 3, 4, 5], "y": [2, 1, 4, 3, 5], "z": [1, 5, 2, 4, 3]}
    original = Table.from_columns(values, roles=dict.fromkeys(values, "quasi"))
    return original, original.with_columns({"y": np.array([1.5, 1.5, 3.5, 3.5, 5.0])})


def _education(age: NDArray[np.float64], district: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
    """Younger people and richer districts have more education; nobody under 27 has a doctorate."""
    wage = np.array([d[4] for d in DISTRICTS])[district]
    taste = 2.9 + 2.5 * (wage - 1) - 0.028 * (age - 45) + 1.35 * rng.standard_normal(len(age))
    ceiling = np.select([age < 20, age < 22, age < 24, age < 27], [2, 3, 4, 5], 6)
    return np.asarray(np.minimum(np.clip(np.round(taste), 0, 6), ceiling), dtype=np.int64)


def _occupation(education: NDArray[np.int64], female: NDArray[np.bool_], rng: Generator) -> NDArray[np.int64]:
    low = np.array([o[3][0] for o in OCCUPATIONS])
    high = np.array([o[3][1] for o in OCCUPATIONS])
    women = np.array([o[5] for o in OCCUPATIONS])
    rarity = np.array([0.1 if o[0] in ("judge", "fisher") else 1.0 for o in OCCUPATIONS])
    distance = np.maximum(low - education[:, None], 0) + np.maximum(education[:, None] - high, 0)
    weight = rarity * np.exp(-2.0 * distance) * np.where(female[:, None], women, 1 - women)
    return _draw_column(weight, rng)


def _marital(age: NDArray[np.float64], rng: Generator) -> NDArray[np.int64]:
    weight = np.stack(
        [
            np.exp(-(age - 24) / 9),
            0.9 / (1 + np.exp(-(age - 30) / 4)),
            0.22 / (1 + np.exp(-(age - 42) / 5)),
            0.9 / (1 + np.exp(-(age - 82) / 6)),
        ],
        axis=1,
    )
    return _draw_column(weight, rng)


def _hours(age: NDArray[np.float64], female: NDArray[np.bool_], rng: Generator) -> NDArray[np.float64]:
    """Weekly hours of work: mostly around 40, part time more often for women, few after retirement age."""
    part = rng.random(len(age)) < np.where(female, 0.32, 0.10)
    hours = np.where(part, 20 + 5 * rng.standard_normal(len(age)), 40 + 5 * rng.standard_normal(len(age)))
    working = rng.random(len(age)) < np.where(age < RETIREMENT, 0.93, 0.08)
    return np.where(working, np.clip(np.round(hours), 4, 75), 0.0)


def _income(
    age: NDArray[np.float64],
    female: NDArray[np.bool_],
    district: NDArray[np.int64],
    education: NDArray[np.int64],
    occupation: NDArray[np.int64],
    hours: NDArray[np.float64],
    rng: Generator,
) -> NDArray[np.float64]:
    """Yearly income: grows with education and, ever less, with experience (Mincer); pensions follow the last wage."""
    experience = np.minimum(age, RETIREMENT) - 18
    schooling = np.array([e[2] for e in EDUCATION])[education]
    trade = np.array([o[4] for o in OCCUPATIONS])[occupation]
    logarithm = 9.75 + schooling + trade + 0.052 * experience - 0.00075 * experience**2 - 0.08 * female
    logarithm += np.log(np.array([d[4] for d in DISTRICTS])[district]) + 0.28 * rng.standard_normal(len(age))
    share = np.where(hours > 0, 0.25 + 0.75 * hours / 40, np.where(age >= RETIREMENT, 0.62, 0.35))
    return np.asarray(np.round(np.exp(logarithm) * share, -2), dtype=np.float64)


def _diagnosis(age: NDArray[np.float64], rng: Generator) -> NDArray[np.int64]:
    odds = np.array([d[1] for d in DIAGNOSES])
    growth = np.array([d[2] for d in DIAGNOSES])
    return _draw_column(odds * np.exp(growth * (age[:, None] - 50) / 10), rng)


def _draw_column(weight: NDArray[np.float64], rng: Generator) -> NDArray[np.int64]:
    """One column of each row, drawn in proportion to its weight."""
    sums = np.cumsum(weight, axis=1)
    return np.asarray(np.sum(rng.random(len(weight))[:, None] * sums[:, -1:] > sums, axis=1), dtype=np.int64)


def _with_rare_people(frame: pl.DataFrame, rng: Generator) -> pl.DataFrame:
    """Put one to four unique people into random rows, none in a table of fewer than fifty."""
    few = min(len(RARE), frame.height // 50)
    rows = frame.rows()
    for row, rare in zip(rng.choice(frame.height, few, replace=False), RARE, strict=False):
        person, hours = rows[row][0], 0 if rare[0] >= RETIREMENT else 45
        rows[row] = (person, *rare[:6], hours, *rare[6:])
    return pl.DataFrame(rows, schema=frame.schema, orient="row")


def _with_missing(frame: pl.DataFrame, rng: Generator) -> pl.DataFrame:
    """Make some values missing: incomes most often, and high incomes a little more."""
    rich = frame["income"].rank().to_numpy() / frame.height
    shares = {"education": 0.02, "occupation": 0.015, "hours": 0.02, "income": 0.02}
    for name, share in shares.items():
        more = 0.03 * rich if name == "income" else 0.0
        lost = pl.Series(rng.random(frame.height) < share + more)
        frame = frame.with_columns(pl.when(~lost).then(pl.col(name)).alias(name))
    return frame


# -- roles and hierarchies --


def _describe_table(frame: pl.DataFrame) -> Table:
    return wrap(
        frame,
        identifiers=["person"],
        quasi_identifiers=["age", "sex", "district", "education", "marital", "occupation", "hours"],
        confidential=["income", "diagnosis"],
        kinds={"education": [e[0] for e in EDUCATION]},
        hierarchies=hierarchies(),
    )


def hierarchies() -> dict[str, Hierarchy]:
    """The hierarchies of the example, with every value it can have."""
    return {
        "age": _count_values("age", 18, 105, "intervals:5,10,20,40"),
        "sex": Hierarchy.from_rows([["female", "*"], ["male", "*"]]),
        "district": Hierarchy.from_rows([[d[0], d[1], d[2], "*"] for d in DISTRICTS]),
        "education": Hierarchy.from_rows([[e[0], e[1], "*"] for e in EDUCATION]),
        "marital": Hierarchy.from_rows([[m, "married" if m == "married" else "not married", "*"] for m in MARITAL]),
        "occupation": Hierarchy.from_rows([[o[0], o[1], o[2], "*"] for o in OCCUPATIONS]),
        "hours": _count_values("hours", 0, 80, "intervals:5,10,20,40"),
    }


def _count_values(name: str, low: int, high: int, spec: str) -> Hierarchy:
    return build_hierarchy(spec, Attribute(name, Kind.NUMERIC), np.arange(low, high + 1, dtype=np.float64))
