from __future__ import annotations

from crypsis.measures.masking_description import (
    ClassCount,
    ColumnDescription,
    HardestRecords,
    LevelShare,
    MaskingDescription,
    Reidentified,
    Treatment,
)
from crypsis.table.lattice import LevelDescription
from crypsis.text import burden_text_of_card, class_size_text, column_text

TEN_YEARS = LevelDescription("age", 2, 9, 10.0, "year", unchanged=False)


def column(treatment: Treatment, *levels: LevelShare) -> ColumnDescription:
    return ColumnDescription("age", treatment, 12.0, 40.0, 0.214, levels)


def test_what_happens_to_a_column() -> None:
    assert column_text(column(Treatment.UNCHANGED)) == "as collected"
    assert column_text(column(Treatment.GENERALISED, LevelShare(100.0, TEN_YEARS))) == "in 10-year bands"
    assert column_text(column(Treatment.MOVED)) == "40 % of its numbers changed, by 0.21 standard deviations on average"
    assert column_text(column(Treatment.REPLACED)) == "40 % of its values replaced by another category"


def test_levels_that_few_records_have_are_not_mentioned() -> None:
    shares = (LevelShare(60.0, LevelDescription("age", 0, 70)), LevelShare(39.6, TEN_YEARS), LevelShare(0.4, TEN_YEARS))
    assert column_text(column(Treatment.LOCALLY_RECODED, *shares)) == "60 % as collected, 40 % in 10-year bands"
    assert column_text(column(Treatment.LOCALLY_RECODED)) == "recoded record by record"


def test_ranges_of_class_sizes() -> None:
    counts = (ClassCount(1, 1, 4), ClassCount(3, 4, 2), ClassCount(100, None, 1))
    assert [class_size_text(count) for count in counts] == ["1", "3 to 4", "100 or more"]


def test_who_bears_the_loss() -> None:
    assert burden_text_of_card(MaskingDescription((), 0)) == []
    described = MaskingDescription(
        (), 3, (), HardestRecords(10, 10.0, 42.0, 6, 3), Reidentified(columns=4, certain=1, likely=2)
    )
    hardest, found = burden_text_of_card(described)
    assert hardest == (
        "the 10 records with the greatest loss (10 %) bear 42 % of the loss; 6 of them are unique in the original, "
        "3 are suppressed"
    )
    assert found == (
        "an intruder who knows all 4 quasi-identifiers re-identifies 1 records for certain and 2 more with probability "
        "1/2 or more"
    )
