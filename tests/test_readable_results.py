"""What `print`, a console and a notebook show of a result: a text to read, one line, and a table."""

from __future__ import annotations

import pytest

import crypsis

ORIGINAL = crypsis.example(150)
MASKED = crypsis.Microaggregation(k=5).mask(ORIGINAL, 1)
RESULTS = {
    "Profile": (crypsis.profile(ORIGINAL), "% of the records are unique"),
    "UtilityCard": (crypsis.utility_card(ORIGINAL, MASKED), "keep their answer"),
    "Findings": (crypsis.attack(MASKED, ORIGINAL, intruder=crypsis.Intruder(attempts=40)), "not tried:"),
}


@pytest.mark.parametrize("name", list(RESULTS))
def test_a_result_is_a_text_to_read_a_short_line_and_a_table(name: str) -> None:
    result, words = RESULTS[name]
    assert repr(result).startswith(f"{name}(")
    assert len(repr(result)) < 100
    assert "\n" not in repr(result)
    lines = str(result).splitlines()
    assert any(set(line) <= {"─", " "} for line in lines if line), "a table with a line below its head"
    assert words in str(result)
    assert all("object at" not in line and "<" not in line for line in lines)
    html = result._repr_html_()  # type: ignore[attr-defined]
    assert html.startswith("<table>")
    assert html.count("<tr>") > 3
