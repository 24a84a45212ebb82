"""Statements about one table: one number per record, and a threshold."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.privacy.alpha_anonymity import AlphaKAnonymity
    from crypsis.privacy.anonymity import KAnonymity
    from crypsis.privacy.closeness import TCloseness
    from crypsis.privacy.diversity import LDiversity
    from crypsis.privacy.likeness import BetaLikeness
    from crypsis.privacy.model import PrivacyModel, Verdict, models
    from crypsis.privacy.presence import DeltaPresence

__all__ = [
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaPresence",
    "KAnonymity",
    "LDiversity",
    "PrivacyModel",
    "TCloseness",
    "Verdict",
    "models",
]

load_when_used(__name__)
