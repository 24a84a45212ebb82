"""A number read mark by mark."""

from __future__ import annotations


def parse_number(text: str, decimal: str, thousands: str) -> float:
    """The number that a text writes with two marks."""
    digits = ""
    for character in text:
        if character == decimal:
            digits += "."
        elif character != thousands:
            digits += character
    return float(digits)
