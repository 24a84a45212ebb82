"""What an intruder achieves with a release, beside what she achieves without it."""

from crypsis.attacks.attack import attack
from crypsis.attacks.outcome import Findings, Outcome, Rate, Untried
from crypsis.attacks.scene import Intruder, Scene

__all__ = ["Findings", "Intruder", "Outcome", "Rate", "Scene", "Untried", "attack"]
