"""Attacks on a release, with the success an intruder has without it."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.attacks.attack import attack
    from crypsis.attacks.attack_context import AttackContext, Intruder
    from crypsis.attacks.outcome import AttackVerdict, Findings, Outcome, Rate, Untried

__all__ = ["AttackContext", "AttackVerdict", "Findings", "Intruder", "Outcome", "Rate", "Untried", "attack"]

load_when_used(__name__)
