"""Outcomes of attacks in words."""

from __future__ import annotations

from crypsis.attacks.outcome import AttackVerdict, Outcome


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
