"""A utility card in words; counts and shares only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crypsis.measures.utility.card import Harm, UtilityCard
from crypsis.measures.utility.distributions import ColumnHarm
from crypsis.measures.utility.propensity import PropensityScore
from crypsis.text.reports import number_text

TIES = {"pearson": "correlation", "cramer": "Cramér's V", "ratio": "correlation ratio"}
PUBLIC = ("loss", "distance", "association")
"""Harms whose sentences hold no count of records, so that users of the file may read them."""
MODELS = {
    "main": "a logistic regression",
    "pairs": "a logistic regression with squares and pairs",
    "cart": "a classification tree",
}


def harm_text(harm: Harm, card: UtilityCard) -> str:
    """One harm in a sentence.

    Parameters
    ----------
    harm : Harm
        What was harmed.
    card : UtilityCard
        The card it is from, for counts.

    Returns
    -------
    str

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> card = crypsis.utility_card(original, masked)
    >>> harm_text(card.harms[0], card)
    "town and illness: Cramér's V 0.00 → 0.51"
    """
    if harm.kind == "association":
        pair = next(p for p in card.pairs if (p.first, p.second) == harm.columns)
        return f"{pair.first} and {pair.second}: {TIES[pair.tie]} {pair.before:.2f} → {pair.after:.2f}"
    column = next(each for each in card.columns if each.name == harm.columns[0])
    return f"{column.name}: {_of_column(harm, column)}"


def _of_column(harm: Harm, column: ColumnHarm) -> str:
    size = number_text(round(harm.size, 1))
    if harm.kind == "loss":
        return f"{size} % of its information is lost"
    if harm.kind == "distance":
        how = "small shifts forgiven" if column.shifted is not None else "total variation"
        return f"its distribution moved by {size} % ({how})"
    if harm.kind == "vanished":
        return vanished_text(column)
    if harm.kind == "tail":
        low, high = (next(t for t in column.tails if t.point == point) for point in (5.0, 95.0))
        return f"beyond its 5 % and 95 % points {low.before} and {high.before} records → {low.after} and {high.after}"
    many = column.filled if harm.kind == "filled" else column.blanked
    return f"{many} missing cells were filled" if harm.kind == "filled" else f"{many} cells were blanked"


def vanished_text(column: ColumnHarm) -> str:
    """How many values of a column vanished; empty if none did.

    Parameters
    ----------
    column : ColumnHarm
        The column.

    Returns
    -------
    str
    """
    if not column.vanished:
        return ""
    share = number_text(round(column.vanished_share, 1))
    return (
        f"{column.vanished} of {column.values} values vanished, held by {column.vanished_records} records ({share} %)"
    )


def propensity_text(score: PropensityScore) -> str:
    """General utility in a sentence.

    Parameters
    ----------
    score : PropensityScore
        pMSE with its null expectation.

    Returns
    -------
    str
    """
    away = score.standardised
    if away is None:
        verdict = ""
    elif away <= 2:
        verdict = ", not distinguishable from chance"
    else:
        verdict = f", {number_text(round(away, 1))} standard deviations above chance"
    return (
        f"{MODELS[score.model]} tells released from original records: pMSE {score.value:.4g} of at most "
        f"{score.largest:.4g} (expected by chance {score.null_mean:.4g}, sd {score.null_deviation:.2g}){verdict}"
    )


def column_rows(columns: Sequence[ColumnHarm]) -> list[dict[str, Any]]:
    """What a table of a card shows of each column, worst first.

    Parameters
    ----------
    columns : sequence of ColumnHarm
        Of a card.

    Returns
    -------
    list of dict
        name, loss, distance, vanished, tails and cells, as text.
    """
    return [
        {
            "name": each.name,
            "loss": f"{each.loss:.1f}",
            "distance": f"{each.moved:.1f}",
            "variation": f"{each.distance:.1f}",
            "vanished": f"{each.vanished} of {each.values}" if each.vanished else "–",
            "vanished_records": str(each.vanished_records) if each.vanished else "–",
            "tails": " · ".join(f"{t.before} → {t.after}" for t in each.tails) or "–",
            "cells": _cells(each),
        }
        for each in columns
    ]


def _cells(column: ColumnHarm) -> str:
    parts = {"changed": column.changed, "blanked": column.blanked, "filled": column.filled}
    return ", ".join(f"{count} {what}" for what, count in parts.items() if count) or "–"


def opening_text(card: UtilityCard, most: int = 5, kinds: Sequence[str] | None = None) -> list[str]:
    """What was harmed most, one sentence each; a column or pair is named at most once.

    Parameters
    ----------
    card : UtilityCard
        Of a solution.
    most : int
        Largest number of sentences.
    kinds : sequence of str, optional
        Only these kinds of harm.

    Returns
    -------
    list of str

    Examples
    --------
    >>> people = crypsis.example(60)
    >>> opening_text(crypsis.utility_card(people, people, general=False))
    ['Nothing was harmed by one per cent or more.']
    """
    seen: dict[tuple[str, ...], str] = {}
    for harm in (each for each in card.harms if kinds is None or each.kind in kinds):
        seen.setdefault(harm.columns, harm_text(harm, card))
    return list(seen.values())[:most] or ["Nothing was harmed by one per cent or more."]


def card_facts(card: UtilityCard) -> Mapping[str, Any]:
    """A card as plain data for reports and JSON.

    Parameters
    ----------
    card : UtilityCard
        Of a solution.

    Returns
    -------
    dict
    """
    return {
        "opening": opening_text(card),
        "public": opening_text(card, kinds=PUBLIC),
        "columns": column_rows(card.columns),
        "pairs": [
            {"first": p.first, "second": p.second, "tie": TIES[p.tie], "before": p.before, "after": p.after}
            for p in card.pairs
        ],
        "general": [propensity_text(each) for each in card.general],
        "uses": [{"title": u.title, "value": u.value, "tolerance": u.tolerance} for u in card.uses],
        "ruined": list(dict.fromkeys(ruin.column for ruin in card.ruins)),
    }
