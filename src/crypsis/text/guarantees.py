"""What a release guarantees, in words."""

from __future__ import annotations

from crypsis.privacy.anonymity import SmallestClass


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
