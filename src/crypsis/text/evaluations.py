"""Evaluations in words: why a table may not be released, why a figure is not given."""

from __future__ import annotations

from collections.abc import Mapping

from crypsis.measures.evaluation import Complaint, Omission
from crypsis.measures.measure import measures
from crypsis.text.attacks import attacker_text, intruder_text

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
