"""Descriptions of maskings in words: columns, class sizes, and which records bear loss and risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crypsis.errors import listing
from crypsis.masking.weights import read_weight_treatment
from crypsis.measures.masking_description import (
    ColumnDescription,
    Treatment,
    describe_masking_level,
)
from crypsis.table.lattice import Lattice, LevelDescription


def level_text(level: LevelDescription) -> str:
    """What a column publishes at a level.

    >>> level_text(LevelDescription("age", 2, 9, 10.0, "year", unchanged=False))
    'in 10-year bands'
    """
    if level.unchanged:
        return "as collected"
    if level.groups == 1:
        return "hidden"
    if level.width:
        return f"in {level.width:g}-{level.unit} bands" if level.unit else f"in bands of {level.width:g}"
    return f"in {level.groups} groups"


def node_text(lattice: Lattice, levels: Sequence[int]) -> str:
    """What a node of a lattice publishes."""
    lattice.check(levels)
    described = [describe_masking_level(a, int(level)) for a, level in zip(lattice.attributes, levels, strict=True)]
    hidden = [each.column for each in described if each.hidden]
    parts = [f"{each.column} {level_text(each)}" for each in described if not each.hidden and not each.unchanged]
    rest = len(described) - len(hidden) - len(parts)
    if not hidden and not parts:
        return "everything as collected"
    if hidden:
        together = ", ".join(hidden[:-1]) + " and " if len(hidden) > 1 else ""
        parts.append(f"{together}{hidden[-1]} hidden")
    return ", ".join(parts) + (", the rest as collected" if rest else "")


# -- Descriptions of maskings in words: columns, class sizes, and which records bear loss and risk.

SHOWN = 0.5
"""Per cent of the records below which a level of a locally recoded column is not mentioned."""


def column_text(column: ColumnDescription) -> str:
    """What a masking does to a column.

    >>> column_text(ColumnDescription("income", Treatment.MOVED, loss=2.0, changed=40.0, shift=0.21))
    '40 % of its numbers changed, by 0.21 standard deviations on average'
    """
    return "; ".join(filter(None, (_treatment(column), masking_missing_text(column.blanked, column.filled))))


def _treatment(column: ColumnDescription) -> str:
    """What becomes of the values that are there."""
    if column.treatment is Treatment.UNCHANGED:
        return "as collected"
    if column.treatment is Treatment.GENERALISED:
        return level_text(column.levels[0].level)
    if column.treatment is Treatment.LOCALLY_RECODED:
        parts = [f"{_share(each.share)} {level_text(each.level)}" for each in column.levels if each.share >= SHOWN]
        if column.replaced >= SHOWN:
            parts.append(f"{_share(column.replaced)} replaced by another value")
        return ", ".join(parts) or "recoded record by record"
    if column.treatment is Treatment.MOVED:
        return f"{_share(column.changed)} of its numbers changed, by {column.shift:.2f} standard deviations on average"
    return f"{_share(column.changed)} of its values replaced by another category"


def _share(percent: float) -> str:
    """Whole per cent; where that would say none or all and it is not so, a decimal more or a bound."""
    if percent in (0.0, 100.0) or 0.5 <= percent < 99.5:
        return f"{percent:.0f} %"
    return "under 0.1 %" if percent < 0.05 else "over 99.9 %" if percent > 99.95 else f"{percent:.1f} %"


def masking_missing_text(blanked: int, filled: int) -> str:
    """Description of a masking in words: how many cells it blanked, and how many missing ones it filled.

    >>> masking_missing_text(1, 0), masking_missing_text(12, 3)
    ('1 cell blanked', '12 cells blanked, 3 missing cells filled in')
    """
    parts = [(blanked, "cell", "blanked"), (filled, "missing cell", "filled in")]
    return ", ".join(f"{count} {noun}{'s'[: count != 1]} {done}" for count, noun, done in parts if count)


def blanked_text(cells: Mapping[str, int], because: str = "others of their group lack a value") -> str:
    """Which columns lost values and why, to be added to a sentence; empty if none did.

    >>> blanked_text({"age": 0, "hours": 3})
    '; 3 cells of hours blanked, as others of their group lack a value'
    """
    parts = [f"{count} cell{'s'[: count != 1]} of {name}" for name, count in cells.items() if count]
    return f"; {listing(parts)} blanked, as {because}" if parts else ""


# -- Groupings of columns in words.

REPRESENTATIVES = {
    "mean": "",
    "median": "numbers are medians",
    "mode": "the most frequent value stands for a group",
    "spread": "numbers are means moved apart so that the variance is kept",
    "calibrated": "values are calibrated so that distributions and moments are kept",
    "typical": "",
    "common-ancestor": "categories are generalised until they are true of the whole group",
    "unanimous": "categories are blanked where the group differs",
    "marginal": "categories are chosen so that their distribution is kept",
    "cheapest": "categories are generalised where that loses less than the typical one",
}
"""What stands for a group, where it is not the mean or the typical value."""


def representatives_text(numbers: str, categories: str) -> str:
    """What stands for a group, to be added to a sentence; empty for means and typical values.

    `numbers`, `categories`: names of representatives; empty where there are no such columns.

    >>> representatives_text("mean", "marginal")
    '; categories are chosen so that their distribution is kept'
    """
    words = dict.fromkeys(REPRESENTATIVES[name] for name in (numbers, categories) if name)
    return "".join(f"; {each}" for each in words if each)


def grouping_text(groups: Sequence[Sequence[str]], k: int, verb: str = "averaged") -> str:
    """Which columns are masked together, and the size of the clusters.

    >>> grouping_text([["age", "income"], ["hours"]], 5)
    'age and income averaged together; hours alone; clusters of at least 5 records'
    """
    parts = []
    for group in groups:
        *others, last = group
        parts.append(f"{', '.join(others)} and {last} {verb} together" if others else f"{last} alone")
    return f"{'; '.join(parts)}; clusters of at least {k} records"


# -- What groups of records publish in each column, in words.

WORDS = {
    "mean": "the mean of {columns}",
    "median": "the median of {columns}",
    "spread": "the mean of {columns}, spread to keep the variance",
    "calibrated": "a calibrated value of {columns}, so that distributions and moments are kept",
    "mode": "the most frequent value of {columns}",
    "typical": "the typical value of {columns}",
    "common-ancestor": "the lowest group of the hierarchy that holds all values of {columns}",
    "unanimous": "the value of {columns} where all records share it, else nothing",
    "marginal": "one of its values of {columns}, so chosen that the distribution is kept",
    "cheapest": "the common group or the typical value of {columns}, whichever loses less",
}


def treatments_text(columns: Mapping[str, Sequence[str]]) -> str:
    """What a group publishes, to be added to a sentence.

    >>> treatments_text({"median": ["age"], "typical": ["sex", "town"]})
    'the median of age; the typical value of sex, town'
    """
    return "; ".join(WORDS[way].format(columns=listing(names)) for way, names in columns.items())


def groups_text(sizes: Sequence[int]) -> str:
    """How many groups there are and of which sizes, to be followed by what they hold.

    >>> [groups_text(sizes) for sizes in ([3, 5, 4], [6, 6], [300])]
    ['3 groups of 3 to 5', '2 groups of 6', '1 group of 300']
    """
    least, most = min(sizes), max(sizes)
    return f"{len(sizes)} group{'s' * (len(sizes) > 1)} of {least}{f' to {most}' if most > least else ''}"


def household_groups_text(
    households: Sequence[int], records: Sequence[int], shared: Sequence[str], out: int, publishing: str
) -> str:
    """Groups of households and of the records inside them, to begin a sentence.

    `households`, `records`: sizes of the groups; `out`: records that are left out.

    >>> household_groups_text([3, 4], [3, 3, 8], ["roof"], 1, "the mean of age")
    '2 groups of 3 to 4 households, each with one value of roof, and inside them 3 groups of 3 to 8 records, each \
publishing the mean of age; 1 record is left out, because too few households are as large'
    """
    text = f"{groups_text(households)} households"
    text += f", each with one value of {listing(shared)}" if shared else ""
    text += f", and inside them {groups_text(records)} records, each publishing "
    left = "" if not out else "1 record is" if out == 1 else f"{out} records are"
    return text + publishing + (f"; {left} left out, because too few households are as large" if left else "")


def given_up_text(values: Mapping[str, int], dominated: Sequence[str], everything: bool) -> str:
    """Which moments calibrated columns do not keep, to be added to a sentence; empty where all are kept.

    `everything`: whether there are too few groups for any moment.

    >>> given_up_text({"town": 12}, ["pay"], False)
    '; moments are not kept of the 12 rarest values of town (too few records), of pay (one record decides them)'
    >>> given_up_text({"town": 12, "job": 3, "sex": 1, "ill": 2}, [], False)
    '; moments are not kept of the rarest values of town, job, sex and 1 more (too few records)'
    >>> given_up_text({}, [], True)
    '; there are too few groups for moments: only distributions are kept'
    """
    if everything:
        return "; there are too few groups for moments: only distributions are kept"
    parts = [
        f"of the {count} rarest values of {name} (too few records)" if count > 1 else f"of the rarest value of {name}"
        for name, count in values.items()
    ]
    if len(parts) > 2:
        parts = [f"of the rarest values of {listing(values, most=3)} (too few records)"]
    parts += [f"of {name} (one record decides them)" for name in dominated]
    return f"; moments are not kept {', '.join(parts)}" if parts else ""


def exchange_text(changed: Mapping[str, float], kept: bool) -> str:
    """What an exchange of values between records did, and what it does not promise.

    `kept`: whether every column has the same values as before, in other records.

    >>> exchange_text({"age": 31.0}, True)[:79]
    'values exchanged between similar records; cells that show another value: age 31'
    """
    shares = ", ".join(f"{name} {share:.0f} %" for name, share in changed.items())
    margins = "; every column keeps its values and their frequencies" if kept else ""
    return (
        f"values exchanged between similar records; cells that show another value: {shares}{margins}; a changed value "
        f"is that of another person, no class size is promised, and how many people are found is known for the "
        f"measured attacks only"
    )


def masking_treatment_text(
    treatment: Treatment, groups: int = 0, *, masked: bool = True, replaced: bool = False, shared: bool = False
) -> str:
    """What a masking did to a published column, in words.

    `shared`: whether records publish the value of a group of records.

    >>> masking_treatment_text(Treatment.GENERALISED, groups=4)
    'recoded to 4 groups'
    >>> masking_treatment_text(Treatment.MOVED, shared=True)
    'each number is that of a group of similar records'
    """
    if treatment is Treatment.UNCHANGED:
        return "unchanged"
    if treatment is Treatment.LOCALLY_RECODED:
        text = "recoded record by record to coarser values where needed"
        return f"{text}, some values replaced by another" if replaced else text
    if treatment is Treatment.GENERALISED:
        return "hidden" if groups == 1 else f"recoded to {groups} groups"
    if not masked:
        return "changed to protect people"
    if treatment is Treatment.REPLACED:
        return f"some values replaced by {'that of a group of similar records' if shared else 'another'}"
    return "each number is that of a group of similar records" if shared else "numbers changed to protect people"


def published_weight_text(publish: str) -> str:
    """What was done to a published weight, in words.

    >>> published_weight_text("rounded:10")
    'rounded to multiples of 10'
    """
    treatment = read_weight_treatment(publish)
    if treatment.how == "rounded":
        return f"rounded to multiples of {treatment.amount:g}"
    if treatment.how == "noise":
        return f"multiplied by random noise of about {100 * treatment.amount:g} %, then {CALIBRATED}"
    of = f"of {', '.join(treatment.columns)}" if treatment.columns else "of the protected columns"
    return f"made anew by raking to weighted margins {of} in the published file"


CALIBRATED = "calibrated so that weighted margins and totals of published columns stay those of the source"


def recomputed_text(derivation: str) -> str:
    """What was done to a derived column, in words.

    >>> recomputed_text("wage + pension")
    'recomputed from the published columns: wage + pension'
    """
    return f"recomputed from the published columns: {derivation}"
