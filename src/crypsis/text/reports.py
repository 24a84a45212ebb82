"""Figures and verdicts of the reports in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crypsis.evolution.contribution import Contribution
from crypsis.measures.masking_description import Treatment

NOTHING = 1e-9
"""Values below this are rounding errors of zero."""


def number_text(value: float | int | None) -> str:
    """A number with at most four significant digits, or a dash where there is none.

    Parameters
    ----------
    value : number or None

    Returns
    -------
    str

    Examples
    --------
    >>> [number_text(value) for value in (15, 0.48291, 799.18, None)]
    ['15', '0.4829', '799.2', '–']
    """
    if value is None:
        return "–"
    if abs(value) < NOTHING:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.4g}"


def sentence_text(text: str) -> str:
    """A text with a capital letter first and a full stop last; an empty text stays empty.

    Examples
    --------
    >>> sentence_text("half the sum")
    'Half the sum.'
    """
    ended = ended_text(text)
    return f"{ended[:1].upper()}{ended[1:]}"


def ended_text(text: str) -> str:
    """A text with a full stop last; its first word may be the name of a column and stays as it is.

    Examples
    --------
    >>> ended_text("income: 4 cells were blanked")
    'income: 4 cells were blanked.'
    """
    text = text.strip()
    return f"{text.rstrip('.')}." if text else ""


def interval_text(interval: Sequence[float] | None) -> str:
    """An interval, or a dash where there is none.

    Parameters
    ----------
    interval : pair of float or None
        Its ends.

    Returns
    -------
    str

    Examples
    --------
    >>> interval_text((1, 2.5))
    '1–2.5'
    """
    return "–" if not interval else f"{number_text(interval[0])}–{number_text(interval[1])}"


def treatment_text(treatment: Treatment, groups: int = 0, *, masked: bool = True, replaced: bool = False) -> str:
    """What was done to a published column, in the words of the reports.

    Parameters
    ----------
    treatment : Treatment
        What was done.
    groups : int
        Number of groups of a generalised column.
    masked : bool
        Whether the column was to be masked; otherwise a change is called a change.
    replaced : bool
        Whether a locally recoded column has cells with another value.

    Returns
    -------
    str

    Examples
    --------
    >>> treatment_text(Treatment.GENERALISED, groups=4)
    'recoded to 4 groups'
    """
    if treatment is Treatment.UNCHANGED:
        return "unchanged"
    if treatment is Treatment.LOCALLY_RECODED:
        text = "recoded record by record to coarser values where needed"
        return f"{text}, some values replaced by another" if replaced else text
    if treatment is Treatment.GENERALISED:
        return "hidden" if groups == 1 else f"recoded to {groups} groups"
    if not masked:
        return "changed"
    return "some values replaced by another" if treatment is Treatment.REPLACED else "masked"


def release_summary(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The first line of the internal report: guarantees that hold and rules that are kept.

    facts  content of the internal report
    returns  "message"; "good": whether everything holds; "waived": number of waived rules and findings
    """
    demands = [d for d in facts["demands"] if d["binding"]]
    kept = [v["holds"] for v in facts["verdicts"]] + [d["holds"] for d in demands]
    waived = [r for r in facts["rules"] if not r["holds"] and r["waived"]]
    failed = [r for r in facts["rules"] if not r["holds"] and not r["waived"]]
    message = f"{sum(kept)} of {len(kept)} guarantees hold"
    if facts["rules"]:
        message += f"; {len(facts['rules']) - len(waived) - len(failed)} of {len(facts['rules'])} rules are kept"
        message += f", {len(waived)} waived" if waived else ""
    passed = sum(bool(each["waived"]) and each["finding"]["refuses"] for each in facts["findings"])
    if passed:
        message += f"; {passed} finding{'s'[: passed != 1]} waived"
    waivers = len(waived) + passed
    return {"message": f"{message}.", "good": all(kept) and not failed, "waived": waivers}


def front_text(points: Sequence[Mapping[str, Any]]) -> str:
    """One sentence about a front and the chosen solution.

    Parameters
    ----------
    points : sequence of mappings
        With family, kind ("solution", "baseline" or "chosen"), loss and risk; the chosen one with whose success the
        risk is ("intruder").

    Returns
    -------
    str
    """
    solutions = [p for p in points if p["kind"] != "baseline"]
    families = sorted({str(p["family"]) for p in solutions})
    text = f"{_count(len(solutions), 'solution')} of {_count(len(families), 'family')} ({', '.join(families)})"
    chosen = next((p for p in points if p["kind"] == "chosen"), None)
    if chosen is None:
        return f"{text}; none is marked as chosen."
    text += f"; the chosen one loses {number_text(chosen['loss'])} % at a risk of {number_text(chosen['risk'])} %"
    text += f" (people found by {chosen['intruder']})" if chosen.get("intruder") else ""
    baselines = [p for p in points if p["kind"] == "baseline"]
    beaten = sum(p["loss"] >= chosen["loss"] and p["risk"] >= chosen["risk"] for p in baselines)
    return f"{text}, no worse in both than {beaten} of {len(baselines)} baselines." if baselines else f"{text}."


def families_text(found: Sequence[Contribution]) -> str:
    """What each search contributed to a front, in a sentence.

    Examples
    --------
    >>> families_text([Contribution("partition", 9, 7, 12.0), Contribution("lattice", 4, 0, 0.0)])
    'Without partition (7 points) the front loses 12 % of its hypervolume; lattice holds no point.'
    """
    parts: list[str] = []
    for each in found:
        if each.points:
            lost = f"{number_text(each.lost)} %"
            who = f"{each.name} ({_count(each.points, 'point')})"
            first = f"Without {who} the front loses {lost} of its hypervolume"
            parts.append(f"without {who} {lost}" if parts else first)
    none = [each.name for each in found if not each.points]
    if none:
        hold = "holds" if len(none) == 1 else "hold"
        parts.append(f"{', '.join(none)} {hold} no point")
    return f"{'; '.join(parts)}." if parts else ""


def _count(count: int, noun: str) -> str:
    """1 family, 3 families."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"
