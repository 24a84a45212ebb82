"""Every figure of a peer or of an independent recomputation beside ours: the page docs/conformance.md.

    python benchmarks/conformance.py [individual-risk] [household] [suda] [population] [attackers] [missing] [undo]
                                     [optima] [intervals] [--page]

Peers: sdcMicro 5.8.1 and ARX 3.9.2. `recomputed` figures were counted by code of their own, of neither peer nor ours.
Reference: the files of `conformance/` beside the data. --page puts the tables into docs/conformance.md.
tests/trust/test_conformance.py asks for the same figures, and that the page says what is printed here.
Reference data: the folder named by CRYPSIS_DATA, else ../shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from page_tables import replace_table

import crypsis
from crypsis.measures.intervals import score_confidence_interval
from crypsis.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from crypsis.searches.pbg_ea import PbgEaSearch
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import (
    alike_records,
    count_conservative_class,
    count_own_class,
    count_target_class,
    count_wildcard_class,
    equivalence_classes,
)
from crypsis.table.files import read_table
from crypsis.table.population import (
    ClassSizes,
    estimate_uniqueness_behind_file,
    fit_population_pitman,
    individual_population_risks,
)
from crypsis.table.table import Table

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("CRYPSIS_DATA") or ROOT.parent / "shared" / "data")
FIGURES = DATA.resolve().parent / "conformance"
PAGE = ROOT / "docs" / "conformance.md"

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
SDCMICRO, ARX, OWN = "sdcMicro", "ARX", "recomputed"
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Figure:
    """One figure of a peer and ours."""

    what: str
    peer: str
    theirs: float
    ours: float
    tolerance: float = 0.0
    """Largest difference that is the rounding of the peer's figure."""
    why: str = ""
    """Why the figures differ; empty where they must agree."""

    @property
    def agrees(self) -> bool:
        """Whether the figures are equal but for rounding."""
        return abs(self.ours - self.theirs) <= self.tolerance

    @property
    def verdict(self) -> str:
        """What the page says of the pair."""
        return self.why or ("equal" if self.agrees else f"DIFFERS by {self.ours - self.theirs:.3g}")

    def line(self) -> str:
        """A line of the page."""
        return f"| {self.what} | {self.peer} | {_number(self.theirs)} | {_number(self.ours)} | {self.verdict} |"


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.8g}"


def largest(what: str, peer: str, theirs: Sequence[float], ours: Sequence[float], tolerance: float) -> Figure:
    """The greatest difference of many figures, which must be rounding."""
    off = float(np.abs(np.asarray(theirs, dtype=float) - np.asarray(ours, dtype=float)).max())
    return Figure(f"{what}: {len(theirs)} figures, the largest difference", peer, 0.0, 0.0 if off <= tolerance else off)


def rows_of(name: str) -> list[dict[str, str]]:
    """A file of figures."""
    with (FIGURES / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def survey() -> Table:
    """testdata: seven keys, its sampling weight and its households."""
    roles = dict.fromkeys(KEYS, "quasi") | {"sampling_weight": "weight", "ori_hid": "household"}
    return read_table(DATA / "testdata.csv", roles=roles, kinds=dict.fromkeys(KEYS, "nominal"))


def suppressed(k: int) -> Table:
    """testdata with the cells blanked that sdcMicro's local suppression blanks for k."""
    table, codes = survey(), {name: survey().column(name).copy() for name in KEYS}
    for cell in rows_of(f"testdata_suppressed_k{k}_cells.csv"):
        codes[cell["column"]][int(cell["row"]) - 1] = -1
    return table.with_columns(codes)


@cache
def adult() -> Table:
    """Adult-8 with the reference hierarchies, occupation confidential."""
    table = read_table(
        DATA / "adult.csv",
        roles=dict.fromkeys(ADULT, "quasi") | {"occupation": "confidential"},
        hierarchies={name: DATA / "dgh" / f"adult_{name}.csv" for name in ADULT},
    )
    return table.drop([name for name in table.names if name not in (*ADULT, "occupation")])


def read_individual_risk() -> list[Figure]:
    """Individual risk of single classes and of testdata."""
    cases = rows_of("individual_risk.csv")
    f, people = (np.array([float(each[name]) for each in cases]) for name in ("f", "F"))
    risks = {form: individual_population_risks(f, people, form == "approx") for form in ("approx", "exact")}
    found = [
        largest(f"individual_risk.csv, {form}", OWN, [float(each[form]) for each in cases], risks[form], 1e-12)
        for form in ("approx", "exact")
    ]
    vectors = json.loads((FIGURES / "wildcard_vectors.json").read_text(encoding="utf-8"))
    eight = individual_population_risks(
        np.array(vectors["published_fk_complete"], float), np.array(vectors["published_Fk_complete"], float), True
    )
    found.append(
        largest("eight published records, approximate", SDCMICRO, vectors["published_risk_approx"], eight, 5e-9)
    )
    table = survey()
    for approximate, expected, peer in ((True, 10.7782989187, SDCMICRO), (False, 10.7755251363, OWN)):
        reading = crypsis.IndividualRisk(approximate=approximate).against(table).explain(table)
        form = "approximate" if approximate else "exact"
        counts = reading.counts
        what = f"testdata, expected re-identifications, {form}"
        found.append(Figure(what, peer, expected, counts["expected re-identifications"], 5e-10))
    found.append(
        Figure("testdata, highest risk", OWN, 0.0465168705655, counts["highest risk of a record, %"] / 100, 5e-14)
    )
    risks_of = crypsis.IndividualRisk(approximate=True).against(table).risks(table)
    homes = crypsis.HouseholdRisk(approximate=True).against(table).risks(table)
    listed = rows_of("testdata_risk_fk_le_3.csv")
    place = [int(each["row"]) - 1 for each in listed]
    found.append(
        largest("testdata, risk where f ≤ 3", SDCMICRO, [float(e["risk"]) for e in listed], risks_of[place], 1e-13)
    )
    theirs = [float(each["household_risk"]) for each in listed]
    found.append(largest("testdata, household risk where f ≤ 3", SDCMICRO, theirs, homes[place], 1e-12))
    return found


def read_households() -> list[Figure]:
    """Household risk and household patterns of testdata."""
    table = survey()
    counts = crypsis.HouseholdRisk(approximate=True).against(table).explain(table).counts
    exact = crypsis.HouseholdRisk().against(table).explain(table).counts
    found_records, found_homes = counts["sum over records"], counts["expected households found"]
    why = "sdcMicro approximates from three records on; ours is exact unless `approximate` is set"
    found = [
        Figure("household risk, sum over records, approximate", SDCMICRO, 51.8129274360, found_records, 5e-10),
        Figure("household risk, sum over households, approximate", OWN, 10.5123602996, found_homes, 5e-10),
        Figure("the same, exact", SDCMICRO, 10.5123602996, exact["expected households found"], why=why),
        Figure("highest risk of a household", OWN, 0.2270364468, counts["highest risk of a household, %"] / 100, 5e-11),
    ]
    for name, masked in (("testdata", table), ("testdata, k = 3 by sdcMicro", suppressed(3))):
        patterns = crypsis.HouseholdKAnonymity().bind_original(table).patterns(masked)
        alike = patterns.alike
        if name == "testdata":
            found.append(Figure(f"{name}: household patterns", OWN, 611, patterns.count))
        for what, theirs, ours in (
            ("households that are unique", 445, (alike == 1).sum()),
            ("households in classes below 3", 593, (alike < 3).sum()),
        ):
            found.append(Figure(f"{name}: {what}", OWN, theirs, int(ours)))
        if name == "testdata":
            found.append(Figure(f"{name}: households in classes below 5", OWN, 803, int((alike < 5).sum())))
    older = crypsis.HouseholdKAnonymity(quasi_identifiers=(*KEYS, "age")).patterns(table).alike
    found.append(Figure("testdata with age: households that are unique", OWN, 996, int((older == 1).sum())))
    return found


def read_suda() -> list[Figure]:
    """Minimal sample uniques, scores, DIS and column shares of testdata; Adult-8."""
    table = survey()
    bound = crypsis.Suda().against(table)
    uniques, scores = bound.uniques(table), bound.uniques(table).scores()
    other, listed = uniques.scores(alternative=True), rows_of("testdata_suda.csv")
    place = [int(each["row"]) - 1 for each in listed]
    dis = {delta: uniques.intrusion_scores(delta) for delta in (0.01, 0.1)}
    by_row: dict[str, Any] = {
        "msu": uniques.count(), "smallest": uniques.smallest(), "score": scores, "score_alternative": other,
        "dis_0.01": dis[0.01],
    }  # fmt: skip
    found = [
        largest(f"testdata_suda.csv, {name}", OWN, [float(e[name]) for e in listed], ours[place], 1e-9)
        for name, ours in by_row.items()
        if name != "dis_0.01"
    ]
    theirs = [float(each["dis_0.01"]) for each in listed]
    found.append(largest("testdata_suda.csv, dis_0.01", OWN, theirs, dis[0.01][place], 1e-9))
    found += [
        Figure(f"MSUs of {size} columns", OWN, count, int(uniques.by_size[:, size - 1].sum()))
        for size, count in enumerate((1, 11, 94, 86, 35, 7, 1), 1)
    ]
    found += [
        Figure("records with a score", OWN, 157, int((scores > 0).sum())),
        Figure("records with an alternative score", OWN, 156, int((other > 0).sum())),
        Figure("sum of scores", OWN, 4890, float(scores.sum())),
        Figure("highest score", OWN, 720, float(scores.max())),
        Figure("sum of alternative scores", OWN, 88.7238095238, float(other.sum()), 5e-11),
        Figure("highest alternative score", OWN, 9, float(other.max())),
        Figure("sum of DIS, δ = 0.01", OWN, 9.831093, float(dis[0.01].sum()), 5e-7),
        Figure(
            "sum of DIS, δ = 0.01", SDCMICRO, 9.831091, float(dis[0.01].sum()),
            why="sdcMicro computes DIS in single precision",
        ),
        Figure("highest DIS, δ = 0.01", OWN, 0.678143, float(dis[0.01].max()), 5e-7),
        Figure("sum of DIS, δ = 0.1", OWN, 50.58752, float(dis[0.1].sum()), 5e-6),
        Figure("highest DIS, δ = 0.1", OWN, 0.958638, float(dis[0.1].max()), 5e-7),
    ]  # fmt: skip
    shares = (12.045, 33.865, 18.098, 53.415, 22.515, 92.597, 24.949)
    for name, theirs_, ours in zip(KEYS, shares, uniques.contributions(), strict=True):
        found.append(Figure(f"share of {name} in the scores, %", OWN, theirs_, 100 * float(ours), 5e-4))
    people = adult()
    special = int((crypsis.Suda().against(people).uniques(people).scores() > 0).sum())
    return [*found, Figure("Adult-8: records with a score", OWN, 8841, special)]


def read_population() -> list[Figure]:
    """Uniqueness in the population by every estimator, 18 cases of Adult."""
    table, found = adult(), list[Figure]()
    sizes = {int(each["size"]): int(each["classes"]) for each in rows_of("adult8_class_sizes.csv")}
    ours = ClassSizes.of(equivalence_classes(table.codes(ADULT)).sizes)
    found.append(Figure("Adult-8: classes", OWN, sum(sizes.values()), ours.count))
    found.append(largest("adult8_class_sizes.csv", OWN, list(sizes.values()), [ours.of_size(s) for s in sizes], 0.0))
    for case in rows_of("population_uniqueness.csv"):
        names, fraction = tuple(case["quasi_identifiers"].split(",")), float(case["fraction"])
        held = ClassSizes.of(equivalence_classes(table.codes(names)).sizes)
        estimates, model = estimate_uniqueness_behind_file(held, fraction), fit_population_pitman(held)
        assert model is not None
        where = f"{'Adult-8' if len(names) == 8 else ', '.join(names)}, fraction {fraction:g}"
        if fraction == 0.5:
            found.append(
                Figure(f"{where}: unique in the sample", OWN, float(case["sample_unique"]), estimates.sample, 5e-11)
            )
            found.append(Figure(f"{where}: Pitman's θ", OWN, float(case["theta"]), model.theta, 5e-7 * model.theta))
            found.append(Figure(f"{where}: Pitman's α", OWN, float(case["alpha"]), model.alpha, 5e-10))
        for name, value in (("pitman", estimates.pitman), ("zayatz", estimates.zayatz)):
            assert value is not None
            found.append(Figure(f"{where}: {name.capitalize()}", ARX, float(case[f"arx_{name}"]), value, 1e-9))
        assert estimates.snb is not None
        theirs = float(case["snb_corrected"])
        found.append(Figure(f"{where}: slide negative binomial", OWN, theirs, estimates.snb, 1e-9))
        rule = float(case["arx_dankar"])
        why = (
            "the slide negative binomial is the smaller one; ARX's has an error, gives 0 and is left out by it"
            if estimates.chosen == "snb"
            else ""
        )
        found.append(Figure(f"{where}: the rule of Dankar et al.", ARX, rule, estimates.rule, 1e-9, why))
    return found


def read_attackers() -> list[Figure]:
    """Prosecutor, journalist and marketer on Adult."""
    table, found = adult(), list[Figure]()
    average = crypsis.ProsecutorRisk(statistic="average").against(table).read(table)
    found.append(Figure("Adult-8: average prosecutor risk", ARX, 0.4130362708, average / 100, 5e-11))
    for threshold, theirs in ((0.05, 0.7394403554), (0.2, 0.5090179696), (0.5, 0.2931171673)):
        ours = crypsis.ProsecutorRisk(threshold=threshold).against(table).read(table) / 100
        found.append(Figure(f"Adult-8: records at risk above {threshold:g}", OWN, theirs, ours, 5e-11))
    names = ("age", "education", "sex", "race")
    inside = np.where(np.arange(len(table)) < 3000, 1.0, 0.0)
    asked: dict[str, Any] = {"columns": names, "member": "sampled", "present": "1"}
    kind = crypsis.Attribute("sampled", crypsis.Kind.NUMERIC, Role.OTHER)
    people = Table((*table.attributes, kind), (*(table.column(name) for name in table.names), inside))
    first = table.take(np.arange(3000))
    alone = {
        s: crypsis.ProsecutorRisk(columns=names, statistic=s).against(first).read(first)
        for s in ("above", "highest", "average")
    }
    seen = {
        s: crypsis.JournalistRisk(**asked, statistic=s).against(people).read(people)
        for s in ("above", "highest", "average")
    }
    where = "3000 of Adult, four columns"
    for who, values, theirs3 in (
        ("prosecutor", alone, (0.4553333333, 1.0, 0.3516666667)),
        ("journalist", seen, (0.1163333333, 1.0, 0.1000133528)),
    ):
        for (statistic, value), theirs in zip(values.items(), theirs3, strict=True):
            words = {"above": "at risk above 0.2", "highest": "highest", "average": "average"}[statistic]
            found.append(Figure(f"{where}: {who}, {words}", ARX, theirs, value / 100, 5e-11))
    marketer = crypsis.MarketerRisk(**asked).against(people).read(people) / 100
    return [*found, Figure(f"{where}: marketer", ARX, 0.1000133528, marketer, 5e-11)]


BELOW = {
    3: {"wildcard": 0, "α = 0.5": 21, "α = 0": 36, "own": 150, "conservative": 138, "target": 113},
    5: {"wildcard": 0, "α = 0.5": 39, "α = 0": 94, "own": 262, "conservative": 231, "target": 192},
}
ALONE, TOTAL = {3: 53, 5: 35}, {3: 301_384, 5: 325_154}


def read_missing() -> list[Figure]:
    """Readings of missing cells: vectors, and sdcMicro's local suppression of testdata."""
    vectors = json.loads((FIGURES / "wildcard_vectors.json").read_text(encoding="utf-8"))
    codes, more = _coded(vectors["rows"]), _coded(vectors["more_missing"]["rows"])
    weights, truth = np.array(vectors["weights"], dtype=np.float64), codes.copy()
    truth[:, 2] = vectors["truth_C"]
    found = [
        largest("eight records, own", SDCMICRO, vectors["fk"]["own_category"], count_own_class(codes), 0.0),
        largest("eight records, conservative", OWN, vectors["conservative"], count_conservative_class(codes), 0.0),
        largest("eight records, target", OWN, vectors["target_view"], count_target_class(codes, truth), 0.0),
    ]
    for alpha in (1, 0.5, 0):
        where, key = f"wildcard, α = {alpha:g}", f"alpha_{alpha}"
        ours = count_wildcard_class(codes, alpha, weights)
        found.append(
            largest(f"eight records, {where}", SDCMICRO, vectors["fk"][key], count_wildcard_class(codes, alpha), 0.0)
        )
        found.append(largest(f"eight records, {where}, weights", SDCMICRO, vectors["Fk"][key], ours, 0.0))
        theirs = vectors["more_missing"][key]
        found.append(
            largest(f"eight records, more missing, {where}", SDCMICRO, theirs, count_wildcard_class(more, alpha), 0.0)
        )
    hidden = codes.copy()
    hidden[7] = -1
    rule, peer = (vectors["peer_all_hidden_row_8"][name] for name in ("rule_alpha_1", "peer_alpha_1"))
    counted = count_wildcard_class(hidden)
    found.append(largest("eight records, one of them all missing, wildcard", OWN, rule, counted, 0.0))
    why = "sdcMicro does not count a record without any value for complete records; by its own rule it equals all"
    found.append(Figure("the same, alike with the first record", SDCMICRO, peer[0], float(counted[0]), why=why))
    for k, below in BELOW.items():
        found += _read_suppressed(k, below)
    return found


def _read_suppressed(k: int, below: dict[str, int]) -> list[Figure]:
    table, masked = survey(), suppressed(k)
    codes, found = masked.codes(KEYS), list[Figure]()
    counts: dict[str, Any] = {
        reading: alike_records(masked, KEYS, reading, table)  # type: ignore[arg-type]
        for reading in ("own", "conservative", "target", "wildcard")
    }
    counts |= {"α = 0.5": count_wildcard_class(codes, 0.5), "α = 0": count_wildcard_class(codes, 0.0)}
    where = f"testdata, k = {k} by sdcMicro"
    for name, theirs in below.items():
        found.append(Figure(f"{where}: records below {k}, {name}", OWN, theirs, int((counts[name] < k).sum())))
    found.append(Figure(f"{where}: records alone, target", OWN, ALONE[k], int((counts["target"] == 1).sum())))
    found.append(Figure(f"{where}: sum of counts, wildcard", OWN, TOTAL[k], float(counts["wildcard"].sum())))
    listed = rows_of(f"testdata_suppressed_k{k}_counts.csv")
    place = [int(each["row"]) - 1 for each in listed]
    for name in ("wildcard", "target"):
        theirs_ = [float(each[name]) for each in listed]
        found.append(largest(f"testdata_suppressed_k{k}_counts.csv, {name}", OWN, theirs_, counts[name][place], 0.0))
    return found


def _coded(rows: Sequence[Sequence[int | None]]) -> Codes:
    return np.array([[-1 if cell is None else cell for cell in row] for row in rows], dtype=np.int32)


def read_undo() -> list[Figure]:
    """Blanked cells of the k = 3 file that another column names."""
    table, masked, found = survey(), suppressed(3), list[Figure]()
    cases = rows_of("testdata_k3_undo.csv")
    ours: dict[str, list[int]] = {"determined_in_release": [], "of_them_right": [], "determined_by_original": []}
    for case in cases:
        name, by = case["masked"], equivalence_classes(table.codes([case["by"]]))
        shown, true = masked.column(name), table.column(name)
        holes = shown == -1
        told = np.full(by.count, -1)
        told[by.of[~holes]] = shown[~holes]
        named = holes & _has_one_value(by.of, shown)
        ours["determined_in_release"].append(int(named.sum()))
        ours["of_them_right"].append(int((named & (told[by.of] == true)).sum()))
        ours["determined_by_original"].append(int((holes & _has_one_value(by.of, true)).sum()))
    for name, counts in ours.items():
        found.append(largest(f"testdata_k3_undo.csv, {name}", OWN, [float(e[name]) for e in cases], counts, 0.0))
    return found


def _has_one_value(of: NDArray[np.integer], values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """bool[n]: whether the known values of the record's class are one value."""
    held = [np.unique(values[(of == each) & (values != -1)]) for each in range(int(of.max()) + 1)]
    return np.array([len(each) == 1 for each in held])[of]


DEMANDS: dict[str, tuple[PrivacyModel, float]] = {
    "k 5 + equal t 0.3, 1 %": (TCloseness(t=0.3, distance="equal"), 0.01),
    "k 5 + equal t 0.3, 4 %": (TCloseness(t=0.3, distance="equal"), 0.04),
    "k 5 + equal t 0.2, 1 %": (TCloseness(t=0.2, distance="equal"), 0.01),
    "k 5 + equal t 0.2, 4 %": (TCloseness(t=0.2, distance="equal"), 0.04),
    "k 5 + entropy l 4, 1 %": (LDiversity(l=4, kind="entropy"), 0.01),
    "k 5 + entropy l 4, 4 %": (LDiversity(l=4, kind="entropy"), 0.04),
}


def read_optima() -> list[Figure]:
    """The least loss of every demand over the whole lattice of Adult-8."""
    wanted = json.loads((FIGURES / "adult_lattice_optima.json").read_text(encoding="utf-8"))
    table, order = adult(), tuple(wanted["order"])
    nodes = crypsis.evaluate_lattice(table, 0.01, k=5, columns=order, value_spread=False)
    least = nodes.filter(nodes["feasible"]).sort("glm").row(0, named=True)
    levels = [int(least[name]) for name in order]
    found = _optimum("k 5, 1 %", wanted["optima"]["k 5, 1 %"], least["glm"], levels, int(least["suppressed"]))
    for name, (model, share) in DEMANDS.items():
        search = PbgEaSearch(columns=order, suppression=share, indices=("k", "glm")).under([KAnonymity(k=5), model])
        problem = search.pose(table, None, np.random.default_rng(0))
        best = problem.first()[0]
        masked = search.encoding(table).decode(best)
        loss = float(problem.evaluate(best)[0]) / 100
        found += _optimum(name, wanted["optima"][name], loss, best.tolist(), int((~masked.kept).sum()))
    name = "average risk 0.05, 1 %"
    return found + _optimum(name, wanted["optima"][name], *least_average_risk(table, order, 0.05, 0.01))


def _optimum(name: str, target: dict[str, Any], loss: float, node: list[int], suppressed: int) -> list[Figure]:
    return [
        Figure(f"Adult-8, {name}: loss", OWN, target["loss"], loss, 1e-6),
        largest(f"Adult-8, {name}: node", OWN, target["node"], node, 0.0),
        Figure(f"Adult-8, {name}: records suppressed", OWN, target["suppressed"], suppressed),
    ]


def least_average_risk(table: Table, order: tuple[str, ...], most: float, share: float) -> tuple[float, list[int], int]:
    """Loss, node and records suppressed of the node of least loss whose classes over records are at most a share.

    The smallest classes are suppressed, of equal ones those that lose most. The loss before suppression is a bound, so
    that nodes are looked at in its order until it exceeds the least one found.
    """
    nodes = crypsis.evaluate_lattice(table, 0.0, "by-size", columns=order, value_spread=False).sort("glm")
    allowance, best = int(share * len(table)), (np.inf, list[int](), 0)
    trees = {name: table.attribute(name).hierarchy for name in order}
    leaves = {name: table.leaf_codes(name) for name in order}
    for node in nodes.iter_rows(named=True):
        if node["glm"] >= best[0]:
            break
        if node["classes"] - allowance > most * len(table):
            continue
        levels, codes, lost = [int(node[name]) for name in order], [], np.zeros(len(table))
        for name, level in zip(order, levels, strict=True):
            tree = trees[name]
            assert tree is not None
            groups = tree.groups[level]
            codes.append(groups[leaves[name]])
            lost += ((np.bincount(groups) - 1) / (len(groups) - 1))[codes[-1]]
        classes = equivalence_classes(np.stack(codes, axis=1))
        cost = np.bincount(classes.of, weights=lost)
        out = np.lexsort((-cost / classes.sizes, classes.sizes))
        gone = np.concatenate([[0], np.cumsum(classes.sizes[out])])
        kept = len(table) - gone
        enough = np.flatnonzero(classes.count - np.arange(len(gone)) <= most * kept + 1e-9)
        if not len(enough) or gone[enough[0]] > allowance:
            continue
        first = int(enough[0])
        loss = float(lost.sum() - cost[out[:first]].sum() + len(order) * gone[first]) / (len(order) * len(table))
        best = min(best, (loss, levels, int(gone[first])))
    return best[0], best[1], best[2]


SCORES: dict[str, tuple[NDArray[np.float64], int | None, int]] = {
    "80 scores 1/3, 20 zeros, sample of 3000": (np.repeat([1 / 3, 0.0], [80, 20]), 3000, 2),
    "5 ones, 95 zeros, no finite population": (np.repeat([1.0, 0.0], [5, 95]), None, 1),
    "50 scores 1/5 then 50 zeros, groups of 5": (np.repeat([0.2, 0.0], [50, 50]), None, 5),
    "all 1/3": (np.full(100, 1 / 3), None, 5),
}


def read_intervals() -> list[Figure]:
    """Intervals of mean scores."""
    found = []
    for case in json.loads((FIGURES / "score_intervals.json").read_text(encoding="utf-8"))["cases"]:
        scores, population, size = SCORES[case["case"]]
        groups = np.arange(100) // size
        for key, ours in (
            ("wilson-neff", score_confidence_interval(scores, population)),
            ("wilson-neff-groups", score_confidence_interval(scores, population, groups)),
        ):
            found.append(largest(f"{case['case']}, {key}, %", OWN, 100 * np.array(case[key]), ours, 1e-7))
    return found


GROUPS: dict[str, tuple[str, Callable[[], list[Figure]]]] = {
    "individual-risk": ("Individual risk", read_individual_risk),
    "household": ("Households", read_households),
    "suda": ("Special uniques", read_suda),
    "population": ("Uniqueness in the population", read_population),
    "attackers": ("Three attackers", read_attackers),
    "missing": ("Missing and suppressed cells", read_missing),
    "undo": ("Suppressed cells that another column names", read_undo),
    "optima": ("Optima over a lattice", read_optima),
    "intervals": ("Intervals of mean scores", read_intervals),
}


def lines_of(title: str, figures: Sequence[Figure]) -> list[str]:
    """The table of a group; the name of its first column is what finds it on the page."""
    return [
        f"| {title} | figure of | theirs | ours | difference |",
        "|---|---|---|---|---|",
        *(f.line() for f in figures),
    ]


def main() -> None:
    """Print the tables, or put them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS], help="figures; all unless named")
    parser.add_argument("--page", action="store_true", help="put the tables into docs/conformance.md")
    given = parser.parse_args()
    figures = []
    for group in given.groups or GROUPS:
        title, read = GROUPS[group]
        figures += (here := read())
        lines = lines_of(title, here)
        print("\n".join(lines), end="\n\n", flush=True)
        if given.page:
            replace_table(PAGE, lines)
    equal = sum(f.agrees and not f.why for f in figures)
    explained = sum(bool(f.why) for f in figures)
    print(f"{len(figures)} lines: {equal} equal, {explained} explained, {len(figures) - equal - explained} differ")


if __name__ == "__main__":
    main()
