"""A first plan for a file, drafted from its profile, with a comment on every line."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.default_roles import assign_default_roles
from crypsis.audits.household_inference import count_inferable_household_records, records_against_household_inference
from crypsis.errors import listing
from crypsis.masking.partitioning import LARGE
from crypsis.measures.estimate_use import EstimateUse
from crypsis.plan.document import Plan, toml_key
from crypsis.plan.foreign_settings import ForeignSettings
from crypsis.searches.search import offers
from crypsis.table.attribute import UNPUBLISHED, Kind, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.links import links
from crypsis.table.profile import LARGEST_SHARE, RARE, Clue, ColumnProfile, Profile, profile_name_subjects
from crypsis.table.readers.formats import format_returned
from crypsis.table.rules import proposed_rules, read_rule
from crypsis.table.table import Table
from crypsis.text import role_reason_text

MASKED_ALONE = (Role.CONFIDENTIAL, Role.WEIGHT, Role.STRATUM)
"""Roles of columns that are published beside the quasi-identifiers."""


def draft_maskings(table: Table, columns: Sequence[ColumnProfile], k: int, stated: Collection[str]) -> list[str]:
    """The tables [[mask]] of a first plan, as lines.

    `k`: records that share a value at least.
    """
    if len(table) < k:
        return []
    averaged: dict[Role, list[str]] = {}
    lines = list[str]()
    for column in columns:
        role, present = Role(column.role), max(len(table) - column.missing, 1)
        many = column.unique > LARGEST_SHARE * present
        if role not in MASKED_ALONE or not (many or (column.rare and column.name not in stated)):
            continue
        if column.kind == Kind.NOMINAL:
            lines += [] if many else _merge(table, column.name, k)
            continue
        ends = [] if many or not table.holds_numbers(column.name) else list(_code_ends(table, column.name, k))
        if ends:
            lines += ends
        elif column.unique:
            averaged.setdefault(role, []).append(column.name)
    return [*(line for names in averaged.values() for line in _average(names, k)), *lines]


def _average(names: Sequence[str], k: int) -> list[str]:
    """Averages of groups of near values."""
    what = "their values" if len(names) > 1 else "its values"
    return [
        f"# Records are alone with {what}, by which they could be found: groups of {k} near ones are",
        "# averaged. May somebody outside know a value? Make it quasi. Is it as safe as it stands? Waive it.",
        "[[mask]]",
        'method = "microaggregation"',
        f"columns = [{', '.join(json.dumps(name, ensure_ascii=False) for name in names)}]",
        f"k = {k}",
        "",
    ]


def _merge(table: Table, name: str, k: int) -> list[str]:
    """The rarest categories become one that at least k records hold; one that is common stands for them."""
    counts = np.sort(_count_values(table, name))
    few = counts < RARE if counts[counts < RARE].sum() <= LARGEST_SHARE * counts.sum() else counts == 1
    if len(counts) < 2 or not few.any():
        return []
    enough = int(np.searchsorted(np.cumsum(counts), k)) + 1
    width = min(max(int(few.sum()), enough, 2), len(counts))
    common = counts[:width].sum() > LARGEST_SHARE * counts.sum()
    return [
        f"# Some categories are held by hardly anybody, who could be found by them: the {width} rarest become one"
        f"{', called like the most common of them' if common else ''}.",
        "[[mask]]",
        'method = "global-recoding"',
        f"columns = [{json.dumps(name, ensure_ascii=False)}]",
        f"depth = {width - 1}",
        *(['label = "representative"'] if common else []),
        "",
    ]


def _code_ends(table: Table, name: str, k: int) -> Iterator[str]:
    """The thin ends of a column are coded; nothing if that leaves rare values or touches too many records."""
    column = table.column(name)
    ordered = np.sort(column[~np.isnan(column)])
    values, counts = np.unique(ordered, return_counts=True)
    rare = values[counts < RARE]
    middle, last = ordered[len(ordered) // 2], len(ordered) - 1
    high, low = rare[rare >= middle], rare[rare < middle]
    top = min(high[0], ordered[-k]) if high.size else ordered[-1]
    bottom = max(low[-1], ordered[k - 1]) if low.size else ordered[0]
    folded = np.sum(ordered > top) + np.sum(ordered < bottom)
    left = np.unique(np.clip(ordered, bottom, top), return_counts=True)[1]
    if bottom >= top or folded > LARGEST_SHARE * len(ordered) or left.min() < RARE:
        return
    yield "# Few records lie at the ends of this column, by which they could be found: the ends become one value."
    if top < ordered[-1]:
        place = int(np.searchsorted(ordered, top, "right")) - 1
        yield from _code("top", name, 100 - 100 * (place + 0.5) / last)
    if bottom > ordered[0]:
        yield from _code("bottom", name, 100 * (int(np.searchsorted(ordered, bottom)) - 0.5) / last)


def _code(end: str, name: str, percent: float) -> list[str]:
    return [
        "[[mask]]",
        f'method = "{end}-coding"',
        f"columns = [{json.dumps(name, ensure_ascii=False)}]",
        f"percent = {percent:.8g}",
        "",
    ]


def _count_values(table: Table, name: str) -> NDArray[np.int64]:
    """int64[values]: how many records hold each value that occurs."""
    codes = table.codes([name])[:, 0]
    counts = np.bincount(codes[codes != MISSING])
    return counts[counts > 0]


# -- A first plan for a file, drafted from its profile, with a comment on every line.

CLASSES_FOR_A_LIMIT = 4
"""A table too small for so many classes of k records gets a limit that k keeps by itself."""
DECLARED = "declared confidential when the plan was drafted"
"""Why nobody outside knows a column that the custodian named confidential."""
OUTCOME = "assumed when the plan was drafted: an outcome that nobody outside has"
"""Why nobody outside knows a column whose name says an outcome."""
TOLERATED = 20
"""How much a declared use may change, per cent, where nobody says otherwise."""
FEW_VALUES = 10
"""Values of a confidential column up to which a class easily holds only one of them."""


def draft(
    source: Path,
    plan: Path,
    table: Table,
    seen: Profile,
    k: int,
    because: Mapping[str, str] | None = None,
    *,
    diverse: bool = False,
    apart: bool = False,
    foreign: ForeignSettings | None = None,
) -> str:
    """A commented plan for a file, from its profile: roles and kinds with the reason for each.

    `diverse`: whether two values of a confidential column are demanded in every class, where it has enough of both;
    `apart`: whether of many quasi-identifiers only sets that somebody may know together are protected together;
    `foreign`: demands, importance and baselines that another tool's settings say.
    """
    foreign = foreign or ForeignSettings("")
    quasi = [column for column in seen.columns if column.role == Role.QUASI_IDENTIFIER]
    known = any(reason.clue is not Clue.SINGLING_OUT for column in quasi for reason in column.reasons[:1])
    columns = (seen if known else assign_default_roles(seen, table)).columns
    assumed = {Clue.DECLARED: DECLARED, Clue.OUTCOME_NAME: OUTCOME}
    why = {c.name: assumed.get(c.reasons[0].clue, "") for c in columns if c.role == Role.CONFIDENTIAL}
    given: dict[str, dict[str, Any]] = {
        name: {"because": text} for name, text in {**why, **(because or {})}.items() if text
    }
    for name, weight in foreign.importance.items():
        given[name] = given.get(name, {}) | {"importance": weight}
    masked = [column for column in columns if column.role == Role.QUASI_IDENTIFIER]
    leading = {column.name for column in masked if column.kind != Kind.NUMERIC}
    for link in links(table, [column.name for column in masked], leading):
        given[link.name] = given.get(link.name, {}) | {"linked": link.lead}
    together = [count_inferable_household_records(table, c.name) for c in columns if c.role == Role.HOUSEHOLD]
    records, largest = k * max([*together, 1]), seen.rows // CLASSES_FOR_A_LIMIT
    if records > largest:
        records = k
    roled = table.with_roles({column.name: Role(column.role) for column in columns})
    classes = _Classes(k, *records_against_household_inference(roled, records, largest), balanced=records > k)
    maskings = draft_maskings(table, columns, k, [name for name, entry in given.items() if entry.get("because")])
    commonest = {c.name: _largest_share(table, c.name) for c in columns if c.role == Role.CONFIDENTIAL}
    sets = list(sets_known_together(_masked_names(columns)).values()) if apart else []
    if len(sets) > 1:
        demands = _demand_apart(
            columns, classes, _diverse_names(columns, commonest, classes.records) if diverse else []
        )
    else:
        demands = _demand_together(columns, classes, _diversity(columns, commonest, classes.records, demanded=diverse))
    demands = [*demands, *foreign.demand_tables()]
    for name, path in foreign.files.items():
        given[name] = given.get(name, {}) | {"hierarchy": path}
    head = _head(os.path.relpath(source, plan.parent), columns, given, maskings, demands, _describe_reading(table))
    described = Plan.parse(tomllib.loads("\n".join(head)), where="draft").table(plan.parent)
    searches = _search_apart(classes.records) if len(sets) > 1 else _searches(described, classes.records)
    return "\n".join([*head, *_rules(described, columns, sets), *searches, *_tail(table, source, plan, foreign)])


def _describe_reading(table: Table) -> dict[str, Any]:
    """How the file is to be read, where that is not what everybody would assume: as given, or as found out."""
    found = getattr(table.origin, "read_with", None)
    if found is None:
        return {}
    usual = {"delimiter": (",", "\t"), "encoding": ("utf8", "utf-8"), "missing": (("",),), "decimal": (".",)}
    return {name: value for name, value in found.given().items() if value not in usual.get(name, ())}


class _Classes(NamedTuple):
    """How large classes must be."""

    people: int  # asked for
    records: int  # demanded, more where several belong to one person or household
    column: str  # what says which records belong together, where groups of that many would be of too few people
    balanced: bool  # whether each person has as many records

    def remark(self) -> list[str]:
        """Why more records are demanded than people."""
        if self.column:
            return [
                f"# more than {self.people}, so that hardly any class is of fewer than three different {self.column}"
            ]
        return [
            f"# that are at least {self.people} people: each has {self.records // self.people} records"
        ] * self.balanced


def _head(
    source: str,
    columns: Sequence[ColumnProfile],
    given: Mapping[str, Mapping[str, Any]],
    maskings: Sequence[str],
    demands: Sequence[str],
    reading: Mapping[str, Any],
) -> list[str]:
    """Data, columns and demands."""
    lines = [
        "# The data, what must hold, how to search, and how the file is published. Correct any line.",
        "# Check it: crypsis check plan.toml   Run it: crypsis run plan.toml",
        "",
        "[data]",
        f"source = {_quote(source)}",
        *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in reading.items()),
        "",
        "[columns]",
        "# role: identifier (never released) | quasi (an intruder may know it) | confidential | weight | stratum |",
        "#       household (which records belong together; never released) | other | undecided (closes the release)",
        "# because: why nobody outside knows a confidential column; without it, nothing is released in which such a",
        "#       column and two others single people out. May somebody know it? Make it quasi.",
        "# hierarchy: a file, or intervals:5,10,20 | dates:month,year | prefixes:3,2 | merge:8,4",
        "# linked: the column that determines this one, so that both are masked together. Also: importance = 0 to 5,",
        '#       at_most = 20 (per cent of loss in this column), lock = true (as collected), scale = "log" (moments)',
    ]
    for column in columns:
        entry = f"role = {_quote(column.role)}, kind = {_quote(column.kind)}"
        entry += "".join(f", {key} = {_value(value)}" for key, value in given.get(column.name, {}).items())
        drafted = column.role in (Role.QUASI_IDENTIFIER, Role.UNDECIDED, Role.WEIGHT)
        if column.hierarchy and drafted and "hierarchy" not in given.get(column.name, {}):
            entry += f", hierarchy = {_quote(column.hierarchy)}"
        lines.append(f"{toml_key(column.name)} = {{ {entry} }}  # {role_reason_text(column.reasons)}")
    return [*lines, "", *maskings, *demands]


def _masked_names(columns: Sequence[ColumnProfile]) -> list[str]:
    return [column.name for column in columns if column.role == Role.QUASI_IDENTIFIER]


def _demand_together(columns: Sequence[ColumnProfile], classes: _Classes, diversity: Sequence[str]) -> list[str]:
    """k over all quasi-identifiers, what else is demanded, and what may take its place, as comments."""
    k, records = classes.people, classes.records
    return [
        "[[require]]",
        "# every released record shares its quasi-identifiers with at least k records",
        *classes.remark(),
        'model = "k-anonymity"',
        f"k = {records}",
        *_missing_cells(columns),
        "",
        *diversity,
        *_risk_limit(k),
        *_scenarios(_masked_names(columns), records),
    ]


WIDE, MANY = 12, 20
"""Quasi-identifiers beyond which k over all of them costs much, so that scenarios are proposed; and beyond which sets
of them are protected apart where nobody is asked."""
TOGETHER = 8
"""Columns that one intruder is assumed to know together at most."""
APART = "assumed when the plan was drafted: nobody outside knows these columns and those of another set together"
"""Why an intruder of a drafted scenario knows no other column."""


def sets_known_together(names: Sequence[str]) -> dict[str, list[str]]:
    """Sets of few quasi-identifiers that somebody may know together; one set of all where there are not many.

    What neighbours know comes first (age, sex, origin, place, family), then what colleagues know, then the others in
    the order of the file, in which related columns stand together. Every column is in one set.

    >>> sets = sets_known_together(["age", "sex", *(f"item{number}" for number in range(20))])
    >>> {name: len(known) for name, known in sets.items()}
    {'neighbour': 2, 'acquaintance 1': 7, 'acquaintance 2': 7, 'acquaintance 3': 6}
    """
    if len(names) <= MANY:
        return {"anybody": list(names)}
    neighbour, colleague, others = list[str](), list[str](), list[str]()
    for name in names:
        subject, word = next(profile_name_subjects(name), ("", ""))
        if word in AT_WORK:
            colleague.append(name)
        else:
            (neighbour if subject in SEEN_BY_NEIGHBOURS else others).append(name)
    found = dict[str, list[str]]()
    for who, known in (("neighbour", neighbour), ("colleague", colleague), ("acquaintance", others)):
        parts = np.array_split(np.arange(len(known)), max(1, -(-len(known) // TOGETHER)))
        for number, part in enumerate(parts if known else [], 1):
            found[f"{who} {number}" if len(parts) > 1 else who] = [known[place] for place in part]
    return found


def _demand_apart(columns: Sequence[ColumnProfile], classes: _Classes, diverse: Sequence[str]) -> list[str]:
    """k over every set of columns that somebody may know together, and how to demand it over all of them."""
    names, k = _masked_names(columns), classes.records
    missing = ', missing = "own"' if any(c.missing for c in columns if c.name in names) else ""
    demands = [f'{{ model = "k-anonymity", k = {k}{missing} }}']
    if diverse:
        demands.append(f'{{ model = "l-diversity", l = 2, confidential = [{", ".join(map(_quote, diverse))}] }}')
    lines = [
        f"# {len(names)} quasi-identifiers: classes of {k} records equal in all of them leave little to analyse. So",
        "# it is ASSUMED that nobody outside knows columns of two of these sets together. Correct the sets; say why in",
        "# because. Who knows more is not covered: that risk stands with every solution and k over all in the reports.",
        "# For k over all of them, put [[require]] in the place of the scenarios, and the search composite:",
        "# [[require]]",
        '# model = "k-anonymity"',
        f"# k = {k}",
        *classes.remark(),
        "",
    ]
    for name, knows in sets_known_together(names).items():
        lines += [
            "[[scenario]]",
            f"name = {_quote(name)}",
            f"knows = [{', '.join(map(_quote, knows))}]",
            f"because = {_quote(APART)}",
            "require = [",
            *(f"    {each}," for each in demands),
            "]",
            "",
        ]
    return [*lines, *_risk_limit(classes.people)]


def _search_apart(k: int) -> list[str]:
    """The search that masks sets of columns apart."""
    return [
        "[[search]]",
        'name = "mixed-grouping"  # columns of one scenario are masked together, those of others apart',
        f"k = {k}",
        f"largest_k = {10 * k}",
        "",
        "[[search]]",
        'name = "composite"  # all columns together, which keeps k in every scenario too: better where they are tied',
        f"k = {k}",
        "",
    ]


ENOUGH_OTHERS = 2.0
"""Records of a class that hold another value than the commonest, on average, where two values are demanded of it."""


def _largest_share(table: Table, name: str) -> float:
    """Share of the records that hold the commonest value, missing ones left out."""
    counts = _count_values(table, name)
    return float(counts.max() / counts.sum()) if counts.size else 1.0


def _diversity(
    columns: Sequence[ColumnProfile], commonest: Mapping[str, float], records: int, *, demanded: bool
) -> list[str]:
    """The demand, or the proposal, of different values in every class, where a confidential column has few of them.

    `commonest`: share of the records with the commonest value of each; `records`: records of a class.
    """
    few = [c.name for c in columns if c.role == Role.CONFIDENTIAL and 2 <= c.distinct <= FEW_VALUES]
    held = _diverse_names(columns, commonest, records) if demanded else []
    left = [name for name in few if name not in held]
    lines = list[str]()
    if held:
        lines += [
            f"# {listing(held)}: of so few values a class may hold only one: whoever finds the class then knows it.",
            "# Two are demanded in every class, at some loss:",
            *_two_values(held, ""),
        ]
    if left:
        why = " One is held by nearly everybody, so this needs large classes." if demanded else ""
        lines += [
            f"# {listing(left)}: of so few values a class may hold only one: whoever finds the class then knows it.",
            f"# This demands two in every class, at some loss.{why}",
            *_two_values(left, "# "),
        ]
    return lines


def _diverse_names(columns: Sequence[ColumnProfile], commonest: Mapping[str, float], records: int) -> list[str]:
    """Confidential columns of few values of which a class may be asked to hold two."""
    few = [c.name for c in columns if c.role == Role.CONFIDENTIAL and 2 <= c.distinct <= FEW_VALUES]
    return [name for name in few if (1 - commonest[name]) * records >= ENOUGH_OTHERS]


def _two_values(names: Sequence[str], mark: str) -> list[str]:
    return [
        f"{mark}[[require]]",
        f'{mark}model = "l-diversity"',
        f"{mark}l = 2",
        f"{mark}confidential = [{', '.join(map(_quote, names))}]",
        "",
    ]


def _missing_cells(columns: Sequence[ColumnProfile]) -> list[str]:
    """How missing values are read, where quasi-identifiers have some."""
    if not any(column.missing and column.role == Role.QUASI_IDENTIFIER for column in columns):
        return []
    return [
        "# missing: how a missing value is read: own (a value of its own, the strictest) | conservative | target |",
        "#       wildcard (equal to every value, which overstates protection)",
        'missing = "own"',
    ]


AT_WORK = frozenset(
    "job occ occp occup isco nace ed educ edu school schooling emp empl employed unemp unempl exper tenure union "
    "major hours hrs occupation profession employer employment unemployed unemployment industry sector workclass "
    "work worker experience education educated degree college university graduate diploma fulltime parttime "
    "selfemployed seniority rank position department team beruf taetigkeit arbeitgeber beschaeftigung bildung "
    "arbeitszeit metier emploi ocupacion empleo trabajo educacion ocupacao emprego trabalho occupazione "
    "professione lavoro istruzione beroep werk opleiding".split()
)
"""Words about what colleagues know."""
SEEN_BY_NEIGHBOURS = frozenset({"age", "sex", "race", "place", "event", "life"})
"""What names of columns are about that neighbours know."""


def _who_knows(names: Sequence[str]) -> dict[str, list[str]]:
    """Which columns a neighbour and a colleague may know, from what the names are about; together all of them."""
    neighbour, colleague = list[str](), list[str]()
    for name in names:
        subject, word = next(profile_name_subjects(name), ("", ""))
        if subject in ("age", "sex", "race"):
            neighbour.append(name)
            colleague.append(name)
        else:
            (colleague if word in AT_WORK else neighbour).append(name)
    if len(neighbour) == len(names) or len(colleague) == len(names) or not colleague:
        half = (len(names) + 1) // 2
        neighbour, colleague = list(names[:half]), list(names[half:])
    return {"neighbour": neighbour, "colleague": colleague}


def _scenarios(names: Sequence[str], k: int) -> list[str]:
    """What may take the place of k over all quasi-identifiers, as comments; nothing for a single column."""
    if len(names) < 2:
        return []
    lines = [
        "# With k over all quasi-identifiers every column is masked together with all others. Two forms lose less, and",
        "# promise less; in both the search mixed-grouping masks columns apart. Either takes the place of [[require]]",
        "# above.",
        "#",
        "# 1. Scenarios: no intruder knows all columns. One table each; the worst one counts. Each says why its",
        "#    intruder knows no other column. Who knows all is not covered; that risk is shown with every solution.",
    ]
    for name, knows in _who_knows(names).items():
        lines += [
            "# [[scenario]]",
            f'# name = "{name}"',
            f"# knows = [{', '.join(map(_quote, knows))}]",
            '# because = "…"',
            f'# require = [{{ model = "k-anonymity", k = {k} }}]',
        ]
    return [
        *lines,
        "#",
        '# 2. Risk-limited: drop [[require]], keep [[limit]], and measure risk = ["one-to-one-linkage"]. It is limited',
        "#    for an intruder who knows every column; no class size is promised, nor anything about other attacks.",
        "#",
        "# [[search]]",
        '# name = "mixed-grouping"',
        f"# k = {k}",
        f"# largest_k = {10 * k}",
        "",
    ]


def _risk_limit(k: int) -> list[str]:
    """A limit on the class risk, with its meaning and price: what k promises, on average over all people."""
    return [
        "# Class risk: classes over records. An intruder who knows the quasi-identifiers of everybody and nothing else",
        f"# finds at most so many people on average; one in {k} where a class is smallest. The least loss within this",
        "# is chosen. More protection: lower it. On real tables three quarters of it cost an analyst 1 answer of 100,",
        "# half of it 3, a quarter 13; what it costs here is on the front.",
        "[[limit]]",
        'measure = "risk"',
        f"at_most = {100.0 / k:.4g}  # per cent of the people",
        "",
    ]


def _rules(table: Table, columns: Sequence[ColumnProfile], apart: Sequence[Sequence[str]] = ()) -> list[str]:
    """Relations that every record keeps and that look meant, without those that tie sets which are masked apart."""
    roles = {column.name: column.role for column in columns}
    shown = [name for name in table.names if roles.get(name) not in UNPUBLISHED]
    masked = [name for name in shown if roles.get(name) == Role.QUASI_IDENTIFIER]
    found = [each for each in proposed_rules(table, shown, masked) if "\n" not in each.rule]
    if apart:
        place = {name: number for number, names in enumerate(apart) for name in names}
        found = [
            each for each in found if len({place[name] for name in read_rule(each.rule).columns if name in place}) < 2
        ]
    if not found:
        return []
    lines = [
        "# Relations that every record keeps and that look meant. Masking must not break them; drop those that are",
        "# chance, allow some with at_most = 1 (per cent of the records), or write your own.",
        "",
    ]
    for each in found:
        lines += ["[[rule]]", f"holds = {_quote(each.rule)}  # in {each.records} records without exception", ""]
    return lines


def _searches(table: Table, k: int) -> list[str]:
    """A table for every search that is worth a try on the file as the plan describes it."""
    lines = ["# The searches share one front. Settings not written here keep their defaults.", ""]
    for offer in offers(table, k):
        if offer.drawback:
            lines += [f"# Left out: {offer.name} ({offer.purpose}). {' '.join(offer.drawback.split())}.", ""]
            continue
        lines += ["[[search]]", f"name = {_quote(offer.name)}  # {offer.purpose}"]
        lines += [*(f"{key} = {json.dumps(value)}" for key, value in offer.settings.items()), ""]
    return lines


def _tail(table: Table, source: Path, plan: Path, foreign: ForeignSettings) -> list[str]:
    share = 0.01 if foreign.suppression is None else foreign.suppression
    format = _quote(format_returned(source))
    budget = "60s" if len(table) <= 10_000 else "5m" if len(table) <= LARGE else "15m"
    return [
        "[run]",
        f'budget = "{budget}"        # or 10m, 500 evaluations, 50 generations',
        'engine = "threads"    # or serial, processes (this machine), dask (a cluster)',
        "",
        "[measures]             # of every solution of any search",
        'loss = ["information-loss"]',
        'risk = ["class-risk"]  # of a perturbed file, which has no classes: one-to-one-linkage',
        "",
        "[release]",
        f"format = {format:<12} # or csv, csv.gz, parquet, xlsx, sav, dta, xpt",
        'order = "shuffled"    # or kept: but the order of rows can identify people',
        f'suppression = "{100 * share:g}%"    # largest share of records that may be suppressed',
        "",
        *foreign.describe(source.name, plan.name),
    ]


def _value(value: Any) -> str:
    """A TOML string or number."""
    return _quote(value) if isinstance(value, str) else json.dumps(value)


def _quote(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False)


def draft_uses(uses: Mapping[str, EstimateUse]) -> str:
    """The tables of declared uses, by what they are called, to be added to a drafted plan."""
    lines = [
        "# Analyses that matter. tolerance: how much of the intervals may be lost, per cent. as: objective (the search",
        "# keeps it as well as it can, a third axis of the front) | limit (refused beyond the tolerance) | report.",
    ]
    for title, use in uses.items():
        settings = use.model_dump(mode="json", exclude_defaults=True)
        lines += [
            "[[use]]",
            f"name = {_quote(title[:60])}",
            'measure = "estimate-use"',
            f"analysis = {_quote(use.analysis)}",
        ]
        lines += [
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items() if key != "analysis"
        ]
        lines += [f"tolerance = {TOLERATED}", 'as = "objective"', ""]
    return "\n".join(lines) if uses else ""
