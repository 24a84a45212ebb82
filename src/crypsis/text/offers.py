"""Offers and ruined columns in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from crypsis.errors import listing
from crypsis.measures.utility.card import Ruin, Usefulness, ruined_columns
from crypsis.table.profile import Clue, Reason
from crypsis.table.rules import RuleCounts
from crypsis.text.attacks import intruder_text
from crypsis.text.reports import number_text

TITLES = {
    "faithful": "Most faithful that passes",
    "balanced": "Balanced",
    "safest": "Safest still useful",
}
"""Heading of each offer."""


def offer_text(
    name: str,
    figures: Mapping[str, float | None],
    interval: tuple[float, float] | None,
    useful: Usefulness,
    ruins: Sequence[Ruin] = (),
    baselines: Mapping[str, float] | None = None,
) -> str:
    """Why a solution is offered, in three sentences.

    Parameters
    ----------
    name : {"faithful", "balanced", "safest"}
        The offer.
    figures : mapping of str to float or None
        Of the solution; loss and risk are named.
    interval : pair of float or None
        95 % interval of its risk.
    useful : Usefulness
        The thresholds it was chosen under.
    ruins : sequence of Ruin
        Its ruined columns, which are named in a last sentence.
    baselines : mapping of str to float, optional
        Per cent of the estimates of the same analyses that each baseline keeps.

    Returns
    -------
    str

    Examples
    --------
    >>> print(offer_text("faithful", {"loss": 4.0, "risk": 9.0, "class-risk": 9.0}, (8.0, 10.5), crypsis.Usefulness()))
    The least loss of all solutions that keep every demand: 4 %. The risk is 9 % (95 % interval 8 to 10.5): so many people are found by an intruder who knows the quasi-identifiers of everybody, reaches the class of each person and guesses in it; less risk would cost more loss.
    """  # noqa: E501
    words = _words(name, figures, interval, useful, bool(ruins)) + _kept(figures.get("analyses"), baselines or {})
    if ruins:
        words += (
            f" Warning: {listing(ruined_columns(ruins))} ruined; every solution that may be released ruins some column."
        )
    elif (figures.get("loss") or 0.0) > useful.loss:
        words += f" Warning: every solution that may be released loses more than {number_text(useful.loss)} %."
    elif (kept := figures.get("analyses")) is not None and kept < useful.analyses:
        words += (
            f" Warning: every solution that may be released keeps fewer than {number_text(useful.analyses)} % of the "
            f"answers."
        )
    return words


def _kept(kept: float | None, baselines: Mapping[str, float]) -> str:
    """How many answers of analyses drawn at random are kept, beside the baselines."""
    if kept is None:
        return ""
    beside = "".join(f"; {name}: {number_text(round(value, 1))} %" for name, value in baselines.items())
    return f" Of the estimates of analyses drawn at random {number_text(round(kept, 1))} % keep their answer{beside}."


def offer_title(names: Sequence[str]) -> str:
    """The heading of a solution that is offered under one or several names.

    Parameters
    ----------
    names : sequence of str
        Of the offers.

    Returns
    -------
    str

    Examples
    --------
    >>> offer_title(["faithful", "safest"])
    'Most faithful that passes, safest still useful'
    """
    first, *others = (TITLES[name] for name in names)
    return ", ".join([first, *(f"{each[0].lower()}{each[1:]}" for each in others)])


def _words(
    name: str,
    figures: Mapping[str, float | None],
    interval: tuple[float, float] | None,
    useful: Usefulness,
    ruined: bool,
) -> str:
    loss, risk, who = number_text(figures.get("loss")), number_text(figures.get("risk")), intruder_text(figures)
    span = f" (95 % interval {number_text(interval[0])} to {number_text(interval[1])})" if interval else ""
    if name == "faithful":
        return (
            f"The least loss of all solutions that keep every demand: {loss} %. The risk is {risk} %{span}: so "
            f"many people are found by {who}; less risk would cost more loss."
        )
    if name == "balanced":
        return (
            f"The least sum of loss and risk: {loss} % and {risk} %{span}; so many people are found by {who}. From "
            f"here on, a point less risk costs more than a point of loss, or lies inside the interval of the risk."
        )
    bounds = f"{'' if ruined else 'no ruined column, '}at most {number_text(useful.loss)} % loss"
    return (
        f"The least risk of the files that are still useful ({bounds}): {risk} %{span}, at {loss} % loss; so many "
        f"people are found by {who}. No loss was paid for a lower risk that lies inside the interval."
    )


def ruin_text(ruins: Sequence[Ruin]) -> str:
    """Ruined columns in one sentence; empty if there is none.

    Parameters
    ----------
    ruins : sequence of Ruin
        Worst first.

    Returns
    -------
    str

    Examples
    --------
    >>> ruin_text([crypsis.Ruin("town", "vanished", 22.0, 10.0)])
    'ruined: town (the values of 22 % of the records vanished, at most 10 % allowed)'
    """
    parts = []
    for column in ruined_columns(ruins):
        own = "; ".join(_one(ruin) for ruin in ruins if ruin.column == column)
        parts.append(f"{column} ({own})")
    return f"ruined: {', '.join(parts)}" if parts else ""


def _one(ruin: Ruin) -> str:
    found, most = number_text(round(ruin.found, 2)), f"at most {number_text(ruin.at_most)} % allowed"
    if ruin.harm == "constant":
        return "it has one value left"
    if ruin.harm == "total":
        return f"its total changed by {found} %, {most}"
    if ruin.harm == "loss":
        return f"{found} % of its information is lost, {most}"
    if ruin.harm == "distance":
        return f"its distribution moved by {found} % of the records, {most}"
    if ruin.harm == "tail":
        return f"{found} % of the records at its low or high end are gone from there, {most}"
    return f"the values of {found} % of the records vanished, {most}"


# -- Edit rules in words.


def rule_text(title: str, counts: RuleCounts) -> str:
    """How the published records keep a rule.

    title   name of the rule
    counts  records by how they keep it before and after

    Examples
    --------
    >>> rule_text("rule start <= end", RuleCounts(100, 0, 2, 1, 5))
    'rule start <= end: no record breaks it that kept it; 2 no longer break it, 1 still breaks it, 5 undecided'
    """
    made = counts.created
    made_text = f"{made} record{'s' * (made != 1)} that kept it break{'s' * (made == 1)} it"
    head = made_text if made else "no record breaks it that kept it"
    healed, kept = counts.healed, counts.kept
    parts = [
        f"{healed} no longer break{'s' * (healed == 1)} it" if healed else "",
        f"{kept} still break{'s' * (kept == 1)} it" if kept else "",
        f"{counts.undecided} undecided" if counts.undecided else "",
    ]
    rest = ", ".join(filter(None, parts))
    return f"{title}: {head}" + (f"; {rest}" if rest else "")


# -- Reasons for suggested roles and kinds in words.

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
