"""Typed results → words, and only here."""

from crypsis.text.evaluations import complaint_text, omission_text
from crypsis.text.guarantees import over_all_text

__all__ = ["complaint_text", "omission_text", "over_all_text"]
