"""A first plan for a file, drafted from its profile, with a comment on every line."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crypsis.audits.default_roles import assign_default_roles, assign_derived_roles, derivations_of_profile
from crypsis.audits.household_inference import infer_household_or_person, repeats_for_household_inference
from crypsis.audits.preview import preview_weight_findings
from crypsis.errors import TableError, listing
from crypsis.masking.partitioning import LARGE
from crypsis.masking.weights import FORMS
from crypsis.measures.estimate_use import EstimateUse
from crypsis.plan.document import Plan, toml_key
from crypsis.plan.drafted_maskings import MASKED_ALONE, count_drafted_values, draft_maskings
from crypsis.plan.foreign_settings import ForeignSettings
from crypsis.privacy.persons import PersonKAnonymity
from crypsis.searches.search import offers
from crypsis.table.attribute import UNPUBLISHED, Kind, Role
from crypsis.table.builders import attach_built_hierarchy
from crypsis.table.encoding import Source
from crypsis.table.households import household_column, published_household_members, read_households
from crypsis.table.links import links
from crypsis.table.population import weight_obstacle
from crypsis.table.profile import (
    LARGEST_SHARE,
    Clue,
    ColumnProfile,
    Profile,
    Reason,
    profile,
    profile_name_subjects,
)
from crypsis.table.readers.formats import format_returned
from crypsis.table.rules import RecognisedDerivation, proposed_rules, read_rule
from crypsis.table.table import Table
from crypsis.text import attack_finding_text, role_reason_text


def _masked_derivations(
    table: Table,
    columns: Sequence[ColumnProfile],
    following: Sequence[RecognisedDerivation],
    because: Collection[str],
) -> tuple[RecognisedDerivation, ...]:
    """Derived columns that follow from others of which something is masked, so that they are recomputed.

    A quasi-identifier is left out if it follows from a column that the custodian declared to be none, and any column
    that follows from numbers which the plan reads as codes: nothing is reckoned with codes.
    """
    quasi = [column.name for column in columns if column.role == Role.QUASI_IDENTIFIER]
    alone = {c.name for c in columns if c.unique > LARGEST_SHARE * max(len(table) - c.missing, 1)}
    masked = {*quasi, *(c.name for c in columns if c.name in alone and c.role in MASKED_ALONE)}
    found = {each.name: each for each in following}
    settled = {c.name for c in columns if c.name in because or c.reasons[0].clue is Clue.DECLARED} - set(quasi)
    kept = {name for name, each in found.items() if masked & {name, *_bases(each, found)}}
    kept = {name for name in kept if name not in quasi or not settled & set(found[name].columns)}
    codes = {c.name for c in columns if c.kind != Kind.NUMERIC and table.holds_numbers(c.name)}
    return tuple(each for name, each in found.items() if name in kept and not codes & set(each.columns))


def _reason_of_derived(
    each: RecognisedDerivation, columns: Sequence[ColumnProfile], given: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Why nobody outside knows a derived confidential column: because nobody knows those it follows from."""
    roles = {column.name: Role(column.role) for column in columns}
    secret = [name for name in each.columns if roles[name] is Role.CONFIDENTIAL]
    stated = bool(secret) and all(given.get(name, {}).get("because") for name in secret)
    if roles[each.name] is not Role.CONFIDENTIAL or given.get(each.name, {}).get("because") or not stated:
        return {}
    return {"because": f"it follows from {listing(secret)}, of which nobody outside knows"}


def _bases(each: RecognisedDerivation, found: Mapping[str, RecognisedDerivation]) -> set[str]:
    """Columns that a derived one follows from, and what these follow from."""
    return {*each.columns, *(base for name in each.columns if name in found for base in _bases(found[name], found))}


class _DraftedWeight(NamedTuple):
    """How a weight is to be published, and why, as lines of a plan."""

    given: dict[str, dict[str, str]]
    lines: list[str]


def _draft_weight(
    table: Table, columns: Sequence[ColumnProfile], derived: Sequence[RecognisedDerivation], k: int
) -> _DraftedWeight:
    """The first treatment of a weight after which the audit of a roughly masked file finds nothing in it.

    Rounding changes least and raking most; noise leaves every record alone with its weight and comes last.
    """
    names = [column.name for column in columns if Role(column.role) is Role.WEIGHT]
    if len(names) != 1 or not table.holds_numbers(names[0]) or len(table) < 2 * k:
        return _DraftedWeight({}, [])
    [name] = names
    roled = table.with_roles({column.name: Role(column.role) for column in columns})
    attributes = {each.name: roled.attribute(each.name).but(derived=each.text) for each in derived}
    roled = roled.with_columns({}, attributes=attributes)
    if not roled.quasi_identifiers or weight_obstacle(roled):
        return _DraftedWeight({}, [])
    size = float(np.median(table.column(name)))
    bases = [float(f"{share * size:.1g}") for share in BASES]
    tried = ["", *(f"rounded:{base:g}" for base in bases if base > 0), "raked", *(f"noise:{each:g}" for each in NOISE)]
    revealed = dict[str, str]()
    for text in tried:
        described = roled.with_columns({}, attributes={name: roled.attribute(name).but(publish=text)})
        found = sorted(preview_weight_findings(described, k), key=lambda each: -each.share)
        if not found:
            return _DraftedWeight({name: {"publish": text}} if text else {}, _weight_remark(name, text, revealed))
        revealed[text] = attack_finding_text(found[0])
    return _DraftedWeight({name: {"publish": "raked"}}, _weight_remark(name, "", revealed))


def _weight_remark(name: str, chosen: str, revealed: Mapping[str, str]) -> list[str]:
    """Why a weight is published so: what the audit says of a roughly masked file with each treatment tried before."""
    lines = [f"# The weight {name}, tried on a roughly masked file; weigh every estimate by it as it is published:"]
    lines += [f"#   {text or 'as collected'}: {' '.join(why.split())}" for text, why in revealed.items()]
    lines.append(f"#   {chosen or 'as collected'}: reveals nothing" if chosen or not revealed else "#   none passes")
    return [*lines, "#   Other ways: publish = " + FORMS, ""]


# -- A first plan for a file, drafted from its profile, with a comment on every line.

CLASSES_FOR_A_LIMIT = 4
"""Groups of k households or persons that a table must hold before they are counted in place of records."""
MOST_LEFT_OUT = 0.01
"""Share of the records that whole households may leave out; the suppression of a first plan."""
DECLARED = "declared confidential when the plan was drafted"
"""Why nobody outside knows a column that the custodian named confidential."""
OUTCOME = "assumed when the plan was drafted: an outcome that nobody outside has"
"""Why nobody outside knows a column whose name says an outcome."""
BASES, NOISE = (0.05, 0.1, 0.25), (0.1, 0.3)
"""Bases to which a weight is tried to be rounded, as parts of its median, and noise that is tried on it."""
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
    following = derivations_of_profile(seen, table)
    columns = (assign_derived_roles(seen, following) if known else assign_default_roles(seen, table)).columns
    derived = _masked_derivations(table, columns, following, because or {})
    assumed = {Clue.DECLARED: DECLARED, Clue.OUTCOME_NAME: OUTCOME}
    why = {c.name: assumed.get(c.reasons[0].clue, "") for c in columns if c.role == Role.CONFIDENTIAL}
    given: dict[str, dict[str, Any]] = {
        name: {"because": text} for name, text in {**why, **(because or {})}.items() if text
    }
    for each in following:
        recomputed = {"derived": each.text} if each in derived else {}
        if said := recomputed | _reason_of_derived(each, columns, given):
            given[each.name] = given.get(each.name, {}) | said
    for name, weight in foreign.importance.items():
        given[name] = given.get(name, {}) | {"importance": weight}
    masked = [column for column in columns if column.role == Role.QUASI_IDENTIFIER]
    if not masked:
        found = listing([f"{column.name} ({Role(column.role).value})" for column in columns])
        raise TableError(
            f"{source.name}: no column is left to mask, by the roles that names and values suggest: {found}; bring a "
            f"file with columns that others may know, such as age or region, or name them to crypsis init -q"
        )
    leading = {column.name for column in masked if column.kind != Kind.NUMERIC}
    for link in links(table, [column.name for column in masked], leading):
        if not {link.name, link.lead} & {each.name for each in derived}:
            given[link.name] = given.get(link.name, {}) | {"linked": link.lead}
    columns = tuple(_with_units(columns, table))
    units = _Units.of(table.with_roles({column.name: Role(column.role) for column in columns}), k)
    weights = _draft_weight(table, columns, derived, k)
    for name, entry in weights.given.items():
        given[name] = given.get(name, {}) | entry
    stated = [name for name, entry in given.items() if entry.get("because")]
    maskings = draft_maskings(table, columns, k, stated, derived, weights.given)
    commonest = {c.name: _largest_share(table, c.name) for c in columns if c.role == Role.CONFIDENTIAL}
    sets = list(sets_known_together(_masked_names(columns)).values()) if apart else []
    if len(sets) > 1:
        demands = _demand_apart(columns, units, _diverse_names(columns, commonest, k) if diverse else [])
    else:
        demands = _demand_together(columns, units, _diversity(columns, commonest, k, demanded=diverse))
    demands = [*demands, *foreign.demand_tables()]
    for name, path in foreign.files.items():
        given[name] = given.get(name, {}) | {"hierarchy": path}
    maskings = [*weights.lines, *maskings]
    head = _head(os.path.relpath(source, plan.parent), columns, given, maskings, demands, _describe_reading(table))
    described = Plan.parse(tomllib.loads("\n".join(head)), where="draft").table(plan.parent)
    searches = _search_apart(k) if len(sets) > 1 else _searches(described, units)
    rules, income = _rules(described, columns, derived, sets), _draft_income(table, columns)
    return "\n".join([*head, *rules, *searches, *income, *_tail(table, source, plan, foreign)])


def _describe_reading(table: Table) -> dict[str, Any]:
    """How the file is to be read, where that is not what everybody would assume: as given, or as found out."""
    found = getattr(table.origin, "read_with", None)
    if found is None:
        return {}
    usual = {"delimiter": (",", "\t"), "encoding": ("utf8", "utf-8"), "missing": (("",),), "decimal": (".",)}
    return {name: value for name, value in found.given().items() if value not in usual.get(name, ())}


PUBLISH_REMARK = ["# publish: what is done to the weight before it is published; why is said below the columns"]
DERIVED_REMARK = [
    "# derived: how a column follows from others, found in the file: it is recomputed from what is published of",
    "#       them: all agree in every record and it tells nothing more. Delete it, or write your own: + - * / ^ ( ),",
    "#       log log10 exp sqrt abs floor ceil round, conditions (age >= 65), cut(age, 'young', 65, 'old')",
]


def _with_units(columns: Sequence[ColumnProfile], table: Table) -> Iterator[ColumnProfile]:
    """The columns; an identifier that most people have in several records says which of them belong together."""
    known = any(column.role == Role.HOUSEHOLD for column in columns)
    for column in columns:
        if not known and column.role == Role.IDENTIFIER and repeats_for_household_inference(table, column.name):
            known = True
            records = int(np.max(np.unique(table.codes([column.name])[:, 0], return_counts=True)[1]))
            reasons = (Reason(Clue.PANEL, values=records), *column.reasons[1:])
            yield replace(column, role=Role.HOUSEHOLD.value, hierarchy="", reasons=reasons)
        else:
            yield column


class _Units(NamedTuple):
    """What k counts."""

    k: int
    column: str  # what says which records belong together; empty if nothing does
    what: str  # household or person
    whole: bool = False  # whether households are to be alike in all of their members
    left_out: int = 0  # records of whole households that must be left out

    @classmethod
    def of(cls, table: Table, k: int) -> _Units:
        """Households are demanded whole where enough are of each size, and records of different people otherwise."""
        name = household_column(table)
        if not name or not table.quasi_identifiers:
            return cls(k, "", "record")
        sizes = np.bincount(read_households(table))
        what = infer_household_or_person(table, name)
        if sizes.max(initial=0) < 2 or len(sizes) < CLASSES_FOR_A_LIMIT * k:
            return cls(k, "", "record")
        left_out = len(table) - int(published_household_members(sizes, k).sum())
        whole = what == "household" and left_out <= MOST_LEFT_OUT * len(table)
        return cls(k, name, what, whole, left_out if whole else 0)

    def demands(self) -> list[str]:
        """The tables [[require]] beside k of records."""
        if not self.column:
            return []
        if not self.whole:
            one = "household" if self.what == "household" else "person"
            return [
                "[[require]]",
                f"# several records belong to one {one} ({self.column}): in every class are at least k different ones",
                'model = "person-k-anonymity"',
                f"k = {self.k}",
                "",
            ]
        left = "1 record is" if self.left_out == 1 else f"{self.left_out} records are"
        some = [f"# {left} left out, because too few households are as large"]
        return [
            "[[require]]",
            "# every household shares the values of all its members with at least k households: who knows one member",
            '# knows the others. Weaker, at less loss: model = "person-k-anonymity" and whole = false in the search',
            *(some if self.left_out else []),
            'model = "household-k-anonymity"',
            f"k = {self.k}",
            "",
        ]


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
        *(PUBLISH_REMARK if any("publish" in entry for entry in given.values()) else []),
        *(DERIVED_REMARK if any("derived" in entry for entry in given.values()) else []),
    ]
    for column in columns:
        entry = f"role = {_quote(column.role)}, kind = {_quote(column.kind)}"
        entry += "".join(f", {key} = {_value(value)}" for key, value in given.get(column.name, {}).items())
        drafted = column.role in (Role.QUASI_IDENTIFIER, Role.UNDECIDED, Role.WEIGHT)
        if column.hierarchy and drafted and not {"hierarchy", "derived", "publish"} & set(given.get(column.name, {})):
            entry += f", hierarchy = {_quote(column.hierarchy)}"
        lines.append(f"{toml_key(column.name)} = {{ {entry} }}  # {role_reason_text(column.reasons)}")
    return [*lines, "", *maskings, *demands]


def _masked_names(columns: Sequence[ColumnProfile]) -> list[str]:
    return [column.name for column in columns if column.role == Role.QUASI_IDENTIFIER]


def _demand_together(columns: Sequence[ColumnProfile], units: _Units, diversity: Sequence[str]) -> list[str]:
    """k over all quasi-identifiers, what else is demanded, and what may take its place, as comments."""
    k = units.k
    return [
        *_demand_records(k),
        *_missing_cells(columns),
        "",
        *units.demands(),
        *diversity,
        *_risk_limit(k),
        *_scenarios(_masked_names(columns), k),
    ]


WIDE, MANY = 12, 20
"""Quasi-identifiers beyond which k over all of them costs much, so that scenarios are proposed; and beyond which sets
of them are protected apart where nobody is asked."""
TOGETHER = 8
"""Columns that one intruder is assumed to know together at most."""
APART = "assumed when the plan was drafted: nobody outside knows these columns and those of another set together"
"""Why an intruder of a drafted scenario knows no other column."""


def sets_known_together(names: Sequence[str], many: int = MANY) -> dict[str, list[str]]:
    """Sets of few quasi-identifiers that somebody may know together; one set of all where there are at most `many`.

    What neighbours know comes first (age, sex, origin, place, family), then what colleagues know, then the others in
    the order of the file, in which related columns stand together. Every column is in one set.

    >>> sets = sets_known_together(["age", "sex", *(f"item{number}" for number in range(20))])
    >>> {name: len(known) for name, known in sets.items()}
    {'neighbour': 2, 'acquaintance 1': 7, 'acquaintance 2': 7, 'acquaintance 3': 6}
    """
    if len(names) <= many:
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


def _demand_apart(columns: Sequence[ColumnProfile], units: _Units, diverse: Sequence[str]) -> list[str]:
    """k over every set of columns that somebody may know together, and how to demand it over all of them."""
    names, k = _masked_names(columns), units.k
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
    return [*lines, *_risk_limit(k)]


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
    counts = count_drafted_values(table, name)
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


def _demand_records(k: int) -> list[str]:
    """The demand on the classes of records."""
    return [
        "[[require]]",
        "# every released record shares its quasi-identifiers with at least k records",
        'model = "k-anonymity"',
        f"k = {k}",
    ]


def _share_of_one(k: int) -> Decimal:
    """One of k in per cent, in four digits and never below it, so that classes of k records keep it.

    >>> [str(_share_of_one(k)) for k in (3, 5, 11)]
    ['33.34', '20', '9.091']
    """
    return Context(prec=4, rounding=ROUND_CEILING).divide(Decimal(100), Decimal(k))


def _risk_limit(k: int) -> list[str]:
    """A limit on the class risk, with its meaning and price: what k promises, on average over all people."""
    return [
        "# Class risk: classes over records. An intruder who knows the quasi-identifiers of everybody and nothing else",
        f"# finds at most so many people on average; one in {k} where a class is smallest. The least loss within this",
        "# is chosen. More protection: lower it. On real tables three quarters of it cost an analyst 1 answer of 100,",
        "# half of it 3, a quarter 13; what it costs here is on the front.",
        "[[limit]]",
        'measure = "risk"',
        f"at_most = {_share_of_one(k)}  # per cent of the people",
        "",
    ]


def _rules(
    table: Table,
    columns: Sequence[ColumnProfile],
    derived: Sequence[RecognisedDerivation] = (),
    apart: Sequence[Sequence[str]] = (),
) -> list[str]:
    """Relations that every record keeps and that look meant, without those that recomputed columns keep by themselves
    or that tie sets which are masked apart.
    """
    roles = {column.name: column.role for column in columns}
    shown = [name for name in table.names if roles.get(name) not in UNPUBLISHED]
    masked = [name for name in shown if roles.get(name) == Role.QUASI_IDENTIFIER]
    following = {each.name for each in derived}
    found = [each for each in proposed_rules(table, shown, masked) if "\n" not in each.rule]
    found = [each for each in found if not set(read_rule(each.rule).columns) & following]
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


def _searches(table: Table, units: _Units) -> list[str]:
    """A table for every search that is worth a try on the file as the plan describes it."""
    lines = ["# The searches share one front. Settings not written here keep their defaults.", ""]
    counted = () if units.whole or not units.column else (PersonKAnonymity(k=units.k),)
    for offer in offers(table, units.k, whole=units.whole, demands=counted):
        if offer.drawback:
            lines += [f"# Left out: {offer.name} ({offer.purpose}). {' '.join(offer.drawback.split())}.", ""]
            continue
        lines += ["[[search]]", f"name = {_quote(offer.name)}  # {offer.purpose}"]
        lines += [*(f"{key} = {json.dumps(value)}" for key, value in offer.settings.items()), ""]
    return lines


INCOME_WORDS = ("income", "einkommen", "revenu", "ingreso", "renta", "reddito", "inkomen", "rendimento")
"""Words in the name of a column of incomes."""


def _draft_income(table: Table, columns: Sequence[ColumnProfile]) -> list[str]:
    """The column of incomes whose poverty rate is reported, where a weight is published and a name says income."""
    shown = [c.name for c in columns if Role(c.role) not in (*UNPUBLISHED, Role.WEIGHT) and table.holds_numbers(c.name)]
    if not any(Role(column.role) is Role.WEIGHT for column in columns):
        return []
    named = [n for n in shown if any(w in n.lower() for w in INCOME_WORDS) and not n.lower().startswith(("log", "ln"))]
    chosen = next((n for n in named if any(w in n.lower() for w in ("eq", "disp", "total"))), (named or [""])[0])
    if not chosen:
        return []
    return [
        "[useful]",
        f"income = {_quote(chosen)}  # its Gini coefficient and at-risk-of-poverty rate are reported, weighted",
        "",
    ]


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


# -- The same demands, limit, searches and hierarchies for a table in memory.


def draft_sections(table: Table, k: int) -> dict[str, Any]:
    """The sections require, limit and search of a first plan for a table that has its roles, as plain data.

    >>> sorted(draft_sections(Table.from_columns({"age": [1, 2, 3, 4]}, {"age": "quasi"}), 2))
    ['limit', 'require', 'search']
    """
    units = _Units.of(table, k)
    lines = [*_demand_records(k), *units.demands(), *_risk_limit(k), *_searches(table, units)]
    return {"search": [], **tomllib.loads("\n".join(lines))}


def draft_kinds(table: Table, seen: Profile) -> dict[str, str]:
    """Columns that a first plan reads otherwise than their values stand in the table, such as whole numbers that are
    codes.
    """
    return {each.name: each.kind for each in seen.columns if each.kind != table.attribute(each.name).kind}


def draft_hierarchies(table: Table, seen: Profile | None = None) -> Table:
    """The table with the hierarchies that a first plan proposes, for quasi-identifiers that have none."""
    bare = [name for name in table.quasi_identifiers if table.attribute(name).hierarchy is None]
    proposed = {column.name: column.hierarchy for column in (seen or profile(table)).columns} if bare else {}
    for name in bare:
        if not proposed[name]:
            continue
        try:
            built = attach_built_hierarchy(
                proposed[name], table.attribute(name), table.column(name), Source(), ordered=True
            )
        except TableError:  # a column that no builder treats keeps its values
            continue
        table = table.with_columns({}, attributes={name: built[0]})
    return table
