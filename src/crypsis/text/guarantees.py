"""What a release guarantees, in words."""

from __future__ import annotations

from collections.abc import Iterable

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


def over_all_text(smallest: SmallestClass | None, family: str) -> str:
    """k over every quasi-identifier in a sentence, which stands beside every demand on some of them.

    Examples
    --------
    >>> over_all_text(SmallestClass(("sex", "age"), 1), "aggregation")
    'Over all quasi-identifiers together (sex, age) the smallest class has 1 record.'
    """
    if smallest is None:
        return "No column of the file is a quasi-identifier, so that no class can be counted over all of them."
    records = "1 record" if smallest.size == 1 else f"{smallest.size} records"
    columns = ", ".join(smallest.columns)
    protects = ", which protects nobody in a perturbed file" if family == "perturbation" else ""
    return f"Over all quasi-identifiers together ({columns}) the smallest class has {records}{protects}."
