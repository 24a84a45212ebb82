"""Outcomes of attacks in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge
from crypsis.attacks.measured_attack import Attacker, MeasuredAttack
from crypsis.attacks.outcome import AttackVerdict, Outcome
from crypsis.errors import listing

_ATTACKERS = {
    "class-risk": "an intruder who knows {columns} of everybody, reaches the class of each person and guesses in it",
    "record-linkage": "an intruder who knows {columns} of a person and takes the nearest record",
    "one-to-one-linkage": "an intruder who knows {columns} of everybody and assigns people to records one-to-one",
    "learned-linkage": "an intruder who knows {columns} of everybody, has learned on a similar file how people were "
    "masked and assigns people to records one-to-one",
    "held-out-linkage": "the most successful of intruders who know some columns, or weigh all, and take the nearest "
    "record, here by {columns}",
    "probabilistic-linkage": "an intruder who knows {columns} of everybody and links records by how often columns "
    "agree",
    "category-linkage": "an intruder who knows {columns} of a person and takes the record with most equal categories",
    "rank-linkage": "an intruder who knows {columns} of everybody and the largest shift of a rank, and takes a record "
    "within it",
    "interval-disclosure": "an intruder who takes the published value of {columns} for about the true one",
    "category-disclosure": "an intruder who takes the published category of {columns} for the true one",
    "overall risk": "the intruder of the plan whose risk, the mean of those that it names, is greatest",
}


def attack_text(outcome: Outcome) -> str:
    """What an attack achieves, and whether it is a finding.

    Examples
    --------
    >>> from crypsis.attacks.outcome import Rate
    >>> attack_text(Outcome("nearest record", Rate.of(12, 100), Rate.known(10.0), None, 5.0, "", (), ""))
    'right for 12.0 % of the attempts against 10.0 % without the release: not distinguishable from the baseline'
    """
    reference = outcome.reference
    other = "baseline" if reference is outcome.baseline else "control"
    against = f"{reference.value:.1f} % {'without the release' if other == 'baseline' else 'outside the release'}"
    rates = f"right for {outcome.rate.value:.1f} % of the attempts against {against}"
    if outcome.sets > 1:
        rates += f", by {', '.join(outcome.scope)}, the worst of {outcome.sets} sets of columns"
    if outcome.verdict is AttackVerdict.CAUGHT:
        return f"{rates}: the release discloses people; {outcome.remedy}"
    if outcome.verdict is AttackVerdict.UNDETERMINED:
        return f"{rates}: undetermined, since nobody outside the release was attacked"
    if outcome.excess > 0:
        return f"{rates}: higher, by less than the {outcome.margin:g} points that count as a finding"
    return f"{rates}: not distinguishable from the {other}"


_ANY_ATTACKER = "an intruder who knows {columns} and does what this measure defines"
_EVERY_QUASI = "the quasi-identifiers"


def attacker_text(measure: str, columns: Sequence[str]) -> str:
    """Whose success a risk is: what the intruder knows and does.

    measure, columns  name of a risk, and its scope

    Examples
    --------
    >>> attacker_text("record-linkage", ["age", "sex"])
    'an intruder who knows age, sex of a person and takes the nearest record'
    """
    return _ATTACKERS.get(measure, _ANY_ATTACKER).format(columns=", ".join(columns) or _EVERY_QUASI)


def intruder_text(figures: Mapping[str, float | None]) -> str:
    """Whose success the overall risk of a solution is, by the figures it was measured with.

    figures  of the solution: beside "risk" the measures it is made of, and "risk.NAME" for each of several intruders

    Examples
    --------
    >>> intruder_text({"risk": 9.0, "class-risk": 9.0})
    'an intruder who knows the quasi-identifiers of everybody, reaches the class of each person and guesses in it'
    >>> intruder_text({"risk": 9.0, "class-risk": 9.0, "risk.register": 9.0, "risk.neighbour": 4.0})
    'an intruder who knows the columns of scenario register of everybody, reaches the class of each person and guesses \
in it'
    """
    risk = figures.get("risk")
    scenarios = {n.removeprefix("risk."): v for n, v in figures.items() if n.startswith("risk.") and v is not None}
    knows = [f"the columns of scenario {max(scenarios, key=lambda n: scenarios[n])}"] if scenarios else []
    for name in _ATTACKERS:
        if risk is not None and figures.get(name) == risk:
            return attacker_text(name, knows)
    return attacker_text("overall risk", knows)


def is_attacker_text(text: str, columns: Collection[str]) -> bool:
    """Whether a text names an attacker who knows some of the columns, and says nothing else.

    Examples
    --------
    >>> is_attacker_text(attacker_text("class-risk", ["age", "sex"]), {"age", "sex", "town"})
    True
    >>> is_attacker_text("an intruder called Kim", {"age"})
    False
    """
    for template in (*_ATTACKERS.values(), _ANY_ATTACKER):
        first, last = template.split("{columns}") if "{columns}" in template else (template, "")
        if text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last):
            known = text[len(first) : len(text) - len(last)]
            if known in ("", _EVERY_QUASI) or set(known.split(", ")) <= set(columns):
                return True
    return False


def measured_attack_text(attack: MeasuredAttack) -> str:
    """What an attack found before the release, and what bounds it.

    Examples
    --------
    >>> found = MeasuredAttack(Attacker.ONE_TO_ONE, "register", ("age",), True, 4.12, (3.6, 4.7), 900, 900, 4.9)
    >>> measured_attack_text(found)
    'an intruder who knows all quasi-identifiers of everybody and assigns people to records one-to-one finds 4.1 % \
(3.6–4.7) of the people; who knows these columns alone is expected to find at most 4.9 %, classes over records'
    """
    knows = "all quasi-identifiers" if attack.everything else listing(attack.knows)
    learned = "" if attack.attacker == Attacker.ONE_TO_ONE else ", has learned on a similar file how people were masked"
    who = f"an intruder who knows {knows} of everybody{learned} and assigns people to records one-to-one"
    if attack.found is None or attack.interval is None:
        return f"{who} was not tried: {attack.skipped}"
    low, high = map(share_text, attack.interval)
    text = f"{who} finds {share_text(attack.found)} % ({low}–{high}) of {_looked_for(attack)}"
    if attack.class_risk is None:
        return text
    most = share_text(attack.class_risk)
    return f"{text}; who knows these columns alone is expected to find at most {most} %, classes over records"


def _looked_for(attack: MeasuredAttack) -> str:
    if attack.people >= attack.people_in_all:
        return "the people"
    more = "may find more" if attack.class_risk is None else "may find somewhat more, up to that bound"
    return f"{attack.people} people drawn from {attack.people_in_all} (who looks for everybody {more})"


def confidential_text(known: ConfidentialKnowledge) -> str:
    """What class sizes do not cover: who knows a confidential column too, exactly, roughly or by a prediction.

    Examples
    --------
    >>> confidential_text(ConfidentialKnowledge("income", 20.0, 94.2, 56.0, 21.4, True, False))
    'class sizes hold for who knows the quasi-identifiers alone (20.0 %); who also knows income finds up to 94.2 %, \
its tenth of all values 56.0 %, who predicts it 21.4 %'
    """
    alone = share_text(known.class_risk)
    text = f"class sizes hold for who knows the quasi-identifiers alone ({alone} %)"
    text += f"; who also knows {known.column} finds up to {share_text(known.exact)} %"
    text += f", its tenth of all values {share_text(known.rough)} %" if known.numeric else ""
    text += f", who predicts it {share_text(known.predicted)} %" if known.predicted is not None else ""
    if not known.asks:
        return text
    return (
        f"{text}; make {known.column} a quasi-identifier, demand l-diversity or t-closeness, or say in the plan why "
        f"nobody outside knows it (because)"
    )


def share_text(value: float) -> str:
    """A per cent figure with two digits, or one after the point.

    Examples
    --------
    >>> [share_text(value) for value in (0.0, 0.0423, 4.12, 15.84, 100.0)]
    ['0', '0.042', '4.1', '15.8', '100']
    """
    if value in (0.0, 100.0):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2g}"
