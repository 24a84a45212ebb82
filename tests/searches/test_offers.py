"""What a first plan offers is what the searches say of themselves."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.searches import search as module
from crypsis.searches import searches
from crypsis.searches.search import offers
from crypsis.table.example import example
from crypsis.table.table import Table


def numbers(rows: int, missing: bool = False) -> Table:
    drawn = np.random.default_rng(1).normal(size=(rows, 3)).round(2)
    columns = {name: drawn[:, place].tolist() for place, name in enumerate("abc")}
    if missing:
        columns["a"][0] = None
    return Table.from_columns(columns, roles=dict.fromkeys("abc", "quasi"))


def test_only_searches_with_a_purpose_are_offered_and_no_other_list_decides() -> None:
    stated = {name for name in searches if searches[name].purpose}
    assert stated < set(searches)
    assert {offer.name for offer in offers(example(100), 5)} <= stated
    assert all(offer.purpose == searches[offer.name].purpose for offer in offers(example(100), 5))


def test_what_cannot_treat_the_table_is_not_offered() -> None:
    assert {offer.name for offer in offers(numbers(40), 3)} == {
        "composite",
        "mixed-grouping",
        "mixed-masking",
        "memetic",
    }
    assert offers(numbers(2), 3) == []


def test_every_offer_can_be_built_and_treats_the_table() -> None:
    for table in (example(100), numbers(40), numbers(40, missing=True)):
        for offer in offers(table, 3):
            assert searches.build(offer.name, **offer.settings).obstacle(table) == ""


def test_a_table_that_lacks_values_is_offered_the_same_searches() -> None:
    whole, holed = ({o.name: o.settings for o in offers(numbers(40, missing), 3)} for missing in (False, True))
    assert holed == whole


def test_a_search_that_needs_another_plan_says_so() -> None:
    for table in (example(100), numbers(40)):
        drawbacks = {offer.name: offer.drawback for offer in offers(table, 3)}
        assert "leaves all columns in one group" in drawbacks.pop("mixed-grouping")
        assert "promises no k" in drawbacks.pop("mixed-masking")
        assert "held no point of the front" in drawbacks.pop("local-recoding", "held no point of the front")
        assert not any(drawbacks.values())


def test_many_records_turn_the_order_round(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [offer.name for offer in offers(example(100), 5)]
    monkeypatch.setattr(module, "LARGE", 50)
    many = [offer.name for offer in offers(example(100), 5)]
    assert many == [few[0], *few[:0:-1]]
    assert [searches[name].pace for name in many[1:]] == sorted(searches[name].pace for name in many[1:])


def test_composite_groups_lead_every_draft() -> None:
    for table in (numbers(40), example(60)):
        assert offers(table, 3)[0].name == "composite"
