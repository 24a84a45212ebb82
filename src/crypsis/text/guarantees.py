"""What a release guarantees, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from crypsis.errors import listing
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Assumption

_ASSUMED = {
    Assumption.KNOWN_COLUMNS: "an intruder knows the named columns and no other",
    Assumption.ONE_RECORD: "a person has one record",
    Assumption.CONFIDENTIAL_UNKNOWN: "no confidential value is known outside",
    Assumption.POPULATION: "the table of the population is complete",
}


def assumptions_text(assumptions: Iterable[Assumption]) -> str:
    """What guarantees take for granted, in a sentence.

    assumptions  those of all models

    Examples
    --------
    >>> assumptions_text([Assumption.ONE_RECORD])
    'The unit is the record. It is assumed that a person has one record.'
    """
    named = [text for assumption, text in _ASSUMED.items() if assumption in set(assumptions)]
    return f"The unit is the record. It is assumed that {'; that '.join(named)}." if named else ""


def unknown_text(columns: Sequence[str]) -> str:
    """That confidential columns are taken for unknown, in a sentence; empty where none is.

    Examples
    --------
    >>> unknown_text(["income"])
    'It is assumed that nobody outside knows income: together with other columns it would single people out.'
    """
    if not columns:
        return ""
    they = "it" if len(columns) == 1 else "each of them"
    return (
        f"It is assumed that nobody outside knows {listing(columns)}: together with other columns {they} would single "
        f"people out."
    )


def uncovered_text(figures: Mapping[str, float | None]) -> str:
    """Whom the scenarios of a plan do not cover, from the figures of a solution; empty where they cover everybody.

    Examples
    --------
    >>> uncovered_text({"all-knowing": 57.25, "k": 1.0})
    'not covered by any scenario: an intruder who knows every quasi-identifier finds 57.2 % of the people; the \
smallest class over all of them has 1 record'
    """
    if "all-knowing" not in figures:
        return ""
    found, size = figures["all-knowing"], figures.get("k")
    text = "not covered by any scenario: an intruder who knows every quasi-identifier"
    text += f" finds {found:.1f} % of the people" if found is not None else ""
    if size is None:
        return text
    return f"{text}; the smallest class over all of them has {size:.0f} record{'s' * (size != 1)}"


def over_all_text(
    smallest: SmallestClass | None, family: str, promised: Collection[Sequence[str]] | None = None
) -> str:
    """k over every quasi-identifier in a sentence, which stands beside every demand on some of them.

    promised  the columns that each guarantee names; None where nothing was guaranteed yet

    Examples
    --------
    >>> over_all_text(SmallestClass(("sex", "age"), 1), "aggregation")
    'Over all quasi-identifiers together (sex, age) the smallest class has 1 record.'
    >>> over_all_text(SmallestClass(("sex", "age"), 1), "aggregation", [("sex",)]).partition("record. ")[2]
    'An intruder who knows them all is not covered: every guarantee names fewer columns.'
    """
    if smallest is None:
        return "No column of the file is a quasi-identifier, so that no class can be counted over all of them."
    records = "1 record" if smallest.size == 1 else f"{smallest.size} records"
    columns = ", ".join(smallest.columns)
    protects = ", which protects nobody in a perturbed file" if family == "perturbation" else ""
    text = f"Over all quasi-identifiers together ({columns}) the smallest class has {records}{protects}."
    if promised is None or family == "perturbation" or any(set(each) >= set(smallest.columns) for each in promised):
        return text
    if not promised:
        return f"{text} No class size is guaranteed: the file is released by a limit on its measured risk."
    return f"{text} An intruder who knows them all is not covered: every guarantee names fewer columns."
