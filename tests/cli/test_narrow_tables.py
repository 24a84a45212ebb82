"""Tables of `crypsis front` and `crypsis verify` fit the terminal, and say once what all rows have in common."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from crypsis.cli.verify import name_column_sets
from crypsis.run.front import find_common_endings
from crypsis.small_tables import table_with_text

WORDS = "not releasable: the column with most values is generalised by one level until at most 1 % are suppressed"
ROWS = [("1", "untouched", "99.75", "0", "the file as collected"), ("12", "plain recoding", "0.7557", "0.75", WORDS)]
HEAD = ("no.", "method", "risk", "suppressed", "description")


@pytest.mark.parametrize("width", [60, 80, 120, 400])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(width: int) -> None:
    shown = table_with_text(HEAD, ROWS, right=[0, 2, 3], width=width)
    assert max(map(cell_len, shown.split("\n"))) <= width
    words = shown.split()
    assert all(words.count(word) >= text.split().count(word) for *_, text in ROWS for word in text.split())


def test_methods_end_alike_or_stay_whole() -> None:
    alike = [("memetic", f"{n} groups of {k} records share their age, sex") for n, k in ((9, 5), (4, 11))]
    found = find_common_endings([*alike, ("pbg-ea", "age, sex hidden"), ("mdav", "one of a kind here")])
    assert found == {"memetic": "records share their age, sex"}


def test_sets_of_columns_are_named_apart() -> None:
    sets = [("age", "sex"), ("age", "town"), ("age",), ("age", "sex")]
    named = name_column_sets(sets)
    assert named == {("age", "sex"): "2 columns, set 1", ("age", "town"): "2 columns, set 2", ("age",): "1 column"}
