"""Figures and verdicts of the reports in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from crypsis.errors import listing
from crypsis.evolution.frontier import Contribution
from crypsis.measures.masking_description import Treatment
from crypsis.measures.measure import measures
from crypsis.measures.objective import Complaint, Omission
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Assumption
from crypsis.text.attacks import attacker_text, intruder_text

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


# -- What a release guarantees, in words.

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


# -- Evaluations in words: why a table may not be released, why a figure is not given.

NO_CLASSES = "class sizes say nothing after perturbation: equal values do not mean equal people"


def complaint_text(complaint: Complaint, family: str, figures: Mapping[str, float | None] | None = None) -> str:
    """Why a table may not be released, in one sentence without a full stop.

    figures  of the table, from which a limited risk names its intruder

    Examples
    --------
    >>> complaint_text(Complaint("limit", "risk", 5.0, 7.25), "recoding")
    'risk is 7.25, at most 5 is allowed'
    >>> complaint_text(Complaint("limit", "class-risk", 5.0, 7.25), "recoding", {"class-risk": 7.25})
    'class-risk is 7.25, at most 5 is allowed: found by an intruder who knows the quasi-identifiers of everybody, \
reaches the class of each person and guesses in it'
    >>> complaint_text(Complaint("model", "k-anonymity", 5.0, 1.0, "at least", 3, 9, ("age", "sex")), "recoding")
    'k-anonymity requires at least 5 over age, sex and 1 is attained; 3 of 9 records offend'
    """
    subject, required, attained = complaint.subject, complaint.required or 0.0, complaint.attained
    if complaint.kind == "model":
        found = "none" if attained is None else f"{attained:g}"
        return (
            f"{subject} requires {complaint.sense} {required:g} over {', '.join(complaint.columns)} and {found} is "
            f"attained; {complaint.offending} of {complaint.records} records offend"
        )
    if complaint.kind == "no-model":
        return f"the required models cannot be judged: {NO_CLASSES}"
    if complaint.kind == "suppression":
        return f"{attained:.3g} % of the records are suppressed, at most {required:g} % may be"
    if complaint.kind == "limit":
        if attained is None:
            return f"{subject} is limited to {required:g} and cannot be read after {family}"
        return f"{subject} is {attained:.4g}, at most {required:g} is allowed{_found_by(subject, figures or {})}"
    if attained is None:
        return f"use {subject!r} cannot be read"
    return f"use {subject!r} is {attained:.4g} off, {required:g} is tolerated"


def _found_by(subject: str, figures: Mapping[str, float | None]) -> str:
    """Whose success a limited risk is; empty for any other measure."""
    if subject == "risk" and figures:
        return f": found by {intruder_text(figures)}"
    name = subject.split(",")[0].split(".")[0]
    return f": found by {attacker_text(name, ())}" if name in measures and measures[name].aim == "risk" else ""


def omission_text(omission: Omission | None) -> str:
    """Why a figure is not given.

    Examples
    --------
    >>> omission_text(Omission("family", "perturbation"))
    'the number has no meaning after perturbation'
    """
    if omission is None:
        return "a part of it cannot be read"
    if omission.reason == "classes":
        return NO_CLASSES
    if omission.reason == "family":
        return f"the number has no meaning after {omission.detail}"
    return omission.detail


def change_text(complaint: Complaint) -> str:
    """What would have to be allowed for a table that falls short, in a clause.

    Examples
    --------
    >>> change_text(Complaint("model", "t-closeness", 0.2, 0.31, "at most"))
    't-closeness demanded no lower than 0.31 (now 0.2)'
    >>> change_text(Complaint("suppression", "", 1.0, 2.5))
    'at most 2.5 % of the records suppressed (now 1 %)'
    """
    subject, required, attained = complaint.subject, complaint.required, complaint.attained
    if complaint.kind == "no-model" or required is None:
        return "a limit on risk in place of the required models, which no class of this family can meet"
    if attained is None:
        return f"{subject} no longer demanded, for it cannot be read here"
    if complaint.kind == "suppression":
        return f"at most {attained:.3g} % of the records suppressed (now {required:g} %)"
    if complaint.kind == "model":
        bound = "no higher than" if complaint.sense == "at least" else "no lower than"
        return f"{subject} demanded {bound} {attained:.4g} (now {required:g})"
    return f"{subject} limited to {attained:.4g} (now {required:g})"
