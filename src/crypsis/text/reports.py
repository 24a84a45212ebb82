"""Figures and verdicts of the reports in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from crypsis.audits.published import Finding, FindingKind
from crypsis.errors import listing
from crypsis.evolution.frontier import Contribution
from crypsis.measures.masking_description import ClassCount
from crypsis.measures.measure import measures
from crypsis.measures.objective import Complaint
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Assumption
from crypsis.table.attribute import Dates, date_text
from crypsis.table.equivalence_classes import MissingReading, ReadingCount
from crypsis.table.profile import Clue, Reason
from crypsis.table.table import PERTURBATION
from crypsis.text.attacks import attacker_text, intruder_text

NOTHING = 1e-9
"""Values below this are rounding errors of zero."""


def number_text(value: float | int | None) -> str:
    """A number with at most four significant digits, or a dash where there is none.

    >>> [number_text(value) for value in (15, 0.48291, 799.18, None)]
    ['15', '0.4829', '799.2', '–']
    """
    if value is None:
        return "–"
    if abs(value) < NOTHING:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.4g}"


def short_number_text(value: float | None, digits: int = 4) -> str:
    r"""A number with few significant digits; millions, billions and trillions by their letters.

    >>> [short_number_text(value) for value in (24.1067, 120500, 50_500_000, 2.3130e11, None)]
    ['24.11', '120500', '50.5\xa0M', '231.3\xa0bn', '–']
    >>> short_number_text(835744.2, digits=2)
    '840000'
    """
    if value is None:
        return "–"
    value = float(f"{value:.{digits}g}")
    for size, letters in ((1e12, "tn"), (1e9, "bn"), (1e6, "M")):
        if size <= abs(value) < 1e15:
            return f"{number_text(value / size)}\u00a0{letters}"
    return number_text(value)


def shortened_text(text: str, columns: Sequence[str], most: int = 8) -> str:
    """A sentence in which a long list of columns names the first ones only.

    >>> shortened_text("every record shares its values of a, b, c, d with 5", "abcd", most=2)
    'every record shares its values of a, b and 2 more with 5'
    """
    return text.replace(", ".join(columns), listing(columns, most)) if len(columns) > most else text


def sentence_text(text: str) -> str:
    """A text with a capital letter first and a full stop last; an empty text stays empty.

    >>> sentence_text("half the sum")
    'Half the sum.'
    """
    ended = ended_text(text)
    return f"{ended[:1].upper()}{ended[1:]}"


def ended_text(text: str) -> str:
    """A text with a full stop last; its first word may be the name of a column and stays as it is.

    >>> ended_text("income: 4 cells were blanked")
    'income: 4 cells were blanked.'
    """
    text = text.strip()
    return f"{text.rstrip('.')}." if text else ""


def readings_text(counts: Mapping[MissingReading, ReadingCount]) -> str:
    """The smallest number of records alike and the records alone under every reading of missing cells, in a sentence.

    >>> readings_text({"own": ReadingCount(1, 4), "conservative": ReadingCount(1, 3), "wildcard": ReadingCount(3, 0)})
    'values are missing, and how that is read decides how many records are alike: own 1 (4 alone), conservative 1 (3 \
alone), wildcard 3 (0 alone), target between conservative and wildcard, which the true values decide; target is what \
an intruder finds who knows them'
    """
    parts = [f"{reading} {each.smallest} ({each.alone} alone)" for reading, each in counts.items()]
    if "target" not in counts:
        parts.append("target between conservative and wildcard, which the true values decide")
    return (
        f"values are missing, and how that is read decides how many records are alike: {', '.join(parts)}; target is "
        f"what an intruder finds who knows them"
    )


def report_summary_text(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Verdicts in a report in words: its first line, how many guarantees hold and how many rules are kept.

    Returns "message"; "good": whether everything holds; "waived": number of waived rules and findings.
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
    """One sentence about a front and the chosen solution."""
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
    return f"{text}, at least as good in both as {beaten} of {len(baselines)} baselines." if baselines else f"{text}."


def families_text(found: Sequence[Contribution]) -> str:
    """What each search contributed to a front, in a sentence.

    >>> families_text([Contribution("memetic", 9, 7, 12.0), Contribution("pbg-ea", 4, 0, 0.0)])
    'Without memetic (7 points) the front loses 12 % of its hypervolume; pbg-ea holds no point.'
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
    Assumption.SAMPLE: "the file is a sample, drawn as its weights or its fraction say",
    Assumption.ONE_OF_SEVERAL: "an intruder looks for a person by one of their records, not by all of them together",
    Assumption.WHOLE_HOUSEHOLDS: "an intruder looks for whole households by the named columns of all members",
}


def assumptions_text(assumptions: Iterable[Assumption]) -> str:
    """What guarantees take for granted, in a sentence.

    >>> assumptions_text([Assumption.ONE_RECORD])
    'The unit is the record. It is assumed that a person has one record.'
    """
    named = [text for assumption, text in _ASSUMED.items() if assumption in set(assumptions)]
    return f"The unit is the record. It is assumed that {'; that '.join(named)}." if named else ""


def over_all_text(
    smallest: SmallestClass | None, family: str, promised: Collection[Sequence[str]] | None = None
) -> str:
    """k over every quasi-identifier in a sentence, which stands beside every demand on some of them.

    `promised`: the columns that each guarantee names; None where nothing was guaranteed yet.

    >>> over_all_text(SmallestClass(("sex", "age"), 1), "aggregation")
    'Over all quasi-identifiers together (sex, age) the smallest class has 1 record.'
    >>> over_all_text(SmallestClass(("sex", "age"), 1), "aggregation", [("sex",)]).partition("record. ")[2]
    'An intruder who knows them all is not covered: every guarantee names fewer columns.'
    """
    if smallest is None:
        return "No column of the file is a quasi-identifier, so that no class can be counted over all of them."
    records = "1 record" if smallest.size == 1 else f"{smallest.size} records"
    columns = ", ".join(smallest.columns)
    protects = ", which protects nobody in a perturbed file" if family == PERTURBATION else ""
    text = f"Over all quasi-identifiers together ({columns}) the smallest class has {records}{protects}."
    if promised is None or family == PERTURBATION or any(set(each) >= set(smallest.columns) for each in promised):
        return text
    if not promised:
        return f"{text} No class size is guaranteed: the file is released by a limit on its measured risk."
    return f"{text} An intruder who knows them all is not covered: every guarantee names fewer columns."


# -- Evaluations in words: why a table may not be released, why a figure is not given.

NO_CLASSES = "class sizes say nothing after perturbation: equal values do not mean equal people"


def complaint_text(complaint: Complaint, family: str, figures: Mapping[str, float | None] | None = None) -> str:
    """A verdict of the reports in words: why a table may not be released, in one sentence without a full stop.

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


def value_text(value: float, dates: Dates) -> str:
    """A figure in the words of the reports: a rounded number, or the day it stands for (`dates`).

    >>> value_text(1234.5678, ""), value_text(31.0, "date")
    ('1235', '1970-02-01')
    """
    if not dates:
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return date_text(value, dates)


def percent_text(value: float | None) -> str:
    """A figure in the words of the reports: per cent with one decimal; a small share is not shown as 0."""
    if value is None:
        return "–"
    return "<0.1" if 0 < value < 0.05 else f"{value:.1f}"


def count_text(value: int) -> str:
    """A count in the words of the reports: 1 000 000, with narrow spaces."""
    return f"{value:,}".replace(",", "\u202f")


def integer_text(value: float) -> str:
    """A figure in the words of the reports: a rounded number with narrow spaces."""
    return count_text(round(value))


def figure_text(value: Any) -> str:
    """A figure in the words of the reports: three significant digits; a dash if there is none."""
    if value is None:
        return "–"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e9 else f"{value:.3g}"
    return str(value)


def singled_out_text(findings: Sequence[Finding]) -> str:
    """In the words of the reports: how many people published columns single out, alone and two or three together.

    >>> singled_out_text([Finding(FindingKind.SINGLING_OUT, ("code",), 98, 0.049, refuses=False)])
    'Alone with the value of one column: 98 by code.'
    """
    single = [each for each in findings if each.kind is FindingKind.SINGLING_OUT]
    together = [each for each in findings if each.kind in (FindingKind.COMBINATION, FindingKind.ASSUMPTION)]
    counts = listing((f"{each.records} by {each.columns[0]}" for each in single), most=8)
    text = f"Alone with the value of one column: {counts}." if single else "Nobody is alone with a value of one column."
    if not together:
        return text
    worst = max(together, key=lambda each: each.records)
    return (
        f"{text} With two or three: at most {worst.records} ({100 * worst.share:.3g} %), by {listing(worst.columns)}."
    )


_TEXTS = {
    Clue.DECLARED: "declared",
    Clue.CONSTANT: "at most one value, so it does not distinguish records",
    Clue.IDENTIFIER_NAME: "direct identifier: names, numbers or contacts a person (matched by name: {word})",
    Clue.WEIGHT_NAME: "sampling weight (matched by name: {word})",
    Clue.HOUSEHOLD_NAME: "says which records belong together, so it is not released (matched by name: {word})",
    Clue.STRATUM_NAME: "stratum of the sample (matched by name: {word})",
    Clue.CONFIDENTIAL_NAME: "confidential: not usually known to others (matched by name: {word})",
    Clue.OUTCOME_NAME: "confidential: an outcome, assumed not to be known to others (by name or values: {word})",
    Clue.QUASI_NAME: "quasi-identifier: likely known to others (matched by name: {word})",
    Clue.DATE: "quasi-identifier: the date of an event can often be looked up",
    Clue.PANEL: "each of its values has {values} records: it says which records belong together, so it is not released",
    Clue.DISTINCT_TEXT: "direct identifier: text that differs from record to record ({values} values)",
    Clue.RUNNING_NUMBER: "direct identifier: consecutive whole numbers, each used once",
    Clue.GROWING_NUMBER: "direct identifier: whole numbers that grow from record to record, each used once",
    Clue.IDENTIFYING_VALUES: "direct identifier: by their form its values are {word}",
    Clue.VALUES: "its values say what it is: {word}",
    Clue.POSTCODES: "quasi-identifier: by their form its values are postcodes",
    Clue.YEARS: "quasi-identifier: years, of a birth or of another event that can often be looked up",
    Clue.HOUSEHOLD_STRUCTURE: "says which records belong together, so it is not released: few records in a row "
    "share each value, and agree in another column",
    Clue.WEIGHT_STRUCTURE: "sampling weight by its structure: positive, hardly ever whole, with the mean of "
    "weights; is it none? Make it quasi or confidential",
    Clue.FOLLOWING: "follows from {word}, and has its role",
    Clue.SINGLING_OUT: "quasi-identifier: {share:.3g} % of the records have a unique value, by which they can be found",
    Clue.UNDECIDED: "neither name nor values show what it is; decide whether an intruder may know it",
    Clue.PRECAUTION: "neither name nor values show what it is; settled by the safest reading",
    Clue.SAYING: "direct identifier: its texts say what {word} says of the same record",
    Clue.RESTORING: "published as it is, it would restore what is masked in {word}; masked with the quasi-identifiers",
    Clue.COMBINED: "who knows it and two other columns could find {share:.3g} % of the records; masked with the "
    "quasi-identifiers",
    Clue.DATES_AS_NUMBERS: "dates are treated as numbers",
    Clue.CODES: "its numbers look like codes",
    Clue.TWO_NUMBERS: "two whole numbers are a category",
    Clue.SEVERAL_PEAKS: "few whole numbers that are common, rare and common again look like codes ({values} values)",
    Clue.KIND_DECLARED: "kind declared",
    Clue.ORDER: "it may have an order: list its values from low to high to make it ordinal",
}


def role_reason_text(reasons: Iterable[Reason]) -> str:
    """Why a role and a kind are suggested for a column, in words as in the reports.

    >>> role_reason_text([Reason(Clue.QUASI_NAME, word="age")])
    'quasi-identifier: likely known to others (matched by name: age)'
    """
    return "; ".join(
        _TEXTS[reason.clue].format(word=reason.word, values=reason.values, share=100 * reason.share)
        for reason in reasons
    )


TITLES = {
    "faithful": "Most faithful that passes",
    "balanced": "Balanced",
    "safest": "Safest worth choosing",
}
"""Heading of each offer."""


def offer_title_for_reports(names: Sequence[str]) -> str:
    """The heading, in the words of the reports, of a solution that is offered under one or several names.

    >>> offer_title_for_reports(["faithful", "safest"])
    'Most faithful that passes, safest worth choosing'
    """
    first, *others = (TITLES[name] for name in names)
    return ", ".join([first, *(f"{each[0].lower()}{each[1:]}" for each in others)])


def class_size_text(count: ClassCount) -> str:
    """A range of class sizes as the reports word it.

    >>> class_size_text(ClassCount(5, 9, 3)), class_size_text(ClassCount(100, None, 1))
    ('5 to 9', '100 or more')
    """
    if count.high is None:
        return f"{count.low} or more"
    return f"{count.low}" if count.low == count.high else f"{count.low} to {count.high}"


def change_text_for_reports(complaint: Complaint) -> str:
    """The verdict on a table that falls short, in words: what would have to be allowed, in a clause.

    >>> change_text_for_reports(Complaint("model", "t-closeness", 0.2, 0.31, "at most"))
    't-closeness demanded no lower than 0.31 (now 0.2)'
    >>> change_text_for_reports(Complaint("suppression", "", 1.0, 2.5))
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
