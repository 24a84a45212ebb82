"""Statements about one table: one number per record, and a threshold. Importing registers the models."""

from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.closeness import TCloseness
from crypsis.privacy.diversity import LDiversity
from crypsis.privacy.model import PrivacyModel, Verdict, models

__all__ = ["KAnonymity", "LDiversity", "PrivacyModel", "TCloseness", "Verdict", "models"]
