"""What an intruder achieves with a release, beside what she achieves without it."""

from crypsis.attacks.attack import attack
from crypsis.attacks.attack_context import Intruder, Scene
from crypsis.attacks.outcome import Findings, Outcome, Rate, Untried

__all__ = ["Findings", "Intruder", "Outcome", "Rate", "Scene", "Untried", "attack"]
