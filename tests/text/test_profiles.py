from __future__ import annotations

import pytest

from crypsis.table.profile import Clue, Reason
from crypsis.text import role_reason_text


@pytest.mark.parametrize("clue", Clue)
def test_every_clue_has_words_without_a_placeholder(clue: Clue) -> None:
    text = role_reason_text([Reason(clue, word="age", values=7)])
    assert text
    assert "{" not in text


def test_reasons_of_role_and_kind_are_one_line() -> None:
    assert role_reason_text([Reason(Clue.QUASI_NAME, word="sex"), Reason(Clue.CODES)]) == (
        "quasi-identifier: likely known to others (matched by name: sex); its numbers look like codes"
    )
