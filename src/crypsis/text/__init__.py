"""Typed results → words, and only here."""

from crypsis.text.evaluations import complaint_text, omission_text

__all__ = ["complaint_text", "omission_text"]
