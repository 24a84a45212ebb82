"""Reasons for suggested roles and kinds in words."""

from __future__ import annotations

from collections.abc import Iterable

from crypsis.table.clues import Clue, Reason

_TEXTS = {
    Clue.DECLARED: "declared",
    Clue.CONSTANT: "at most one value, so it does not distinguish records",
    Clue.IDENTIFIER_NAME: "direct identifier: names, numbers or contacts a person (matched by name: {word})",
    Clue.WEIGHT_NAME: "sampling weight (matched by name: {word})",
    Clue.HOUSEHOLD_NAME: "says which records belong together, so it is not released (matched by name: {word})",
    Clue.STRATUM_NAME: "stratum of the sample (matched by name: {word})",
    Clue.CONFIDENTIAL_NAME: "confidential: not usually known to others (matched by name: {word})",
    Clue.OUTCOME_NAME: "confidential: an outcome, assumed not to be known to others (matched by name: {word})",
    Clue.QUASI_NAME: "quasi-identifier: likely known to others (matched by name: {word})",
    Clue.DATE: "quasi-identifier: the date of an event can often be looked up",
    Clue.PANEL: "each of its values has {values} records: it says which records belong together, so it is not released",
    Clue.DISTINCT_TEXT: "direct identifier: text that differs from record to record ({values} values)",
    Clue.RUNNING_NUMBER: "direct identifier: consecutive whole numbers, each used once",
    Clue.SINGLING_OUT: "quasi-identifier: {share:.3g} % of the records have a unique value, by which they can be found",
    Clue.UNDECIDED: "neither name nor values show what it is; decide whether an intruder may know it",
    Clue.PRECAUTION: "neither name nor values show what it is; settled by the safest reading",
    Clue.RESTORING: "published as it is, it would restore what is masked in {word}; masked with the quasi-identifiers",
    Clue.COMBINED: "who knows it and two other columns could find {share:.3g} % of the records; masked with the "
    "quasi-identifiers",
    Clue.DATES_AS_NUMBERS: "dates are treated as numbers",
    Clue.CODES: "its numbers look like codes",
    Clue.TWO_NUMBERS: "two whole numbers are a category",
    Clue.SEVERAL_PEAKS: "few whole numbers that are common, rare and common again look like codes ({values} values)",
    Clue.ORDER: "it may have an order: list its values from low to high to make it ordinal",
}


def reason_text(reasons: Iterable[Reason]) -> str:
    """Why a role and a kind are suggested for a column.

    reasons  the reasons of one column

    Examples
    --------
    >>> reason_text([Reason(Clue.QUASI_NAME, word="age")])
    'quasi-identifier: likely known to others (matched by name: age)'
    """
    return "; ".join(
        _TEXTS[reason.clue].format(word=reason.word, values=reason.values, share=100 * reason.share)
        for reason in reasons
    )
