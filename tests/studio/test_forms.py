"""Forms follow the types of settings, never the wording of their help."""

from __future__ import annotations

from crypsis.plan.sections import measures, models, searches
from crypsis.registry import Registry, Settings
from crypsis.studio.forms import form_entries


def offered(registry: Registry[Settings]) -> set[tuple[str, str]]:
    """Settings of a family for which a form offers one column of the table."""
    return {
        (name, entry.name)
        for name in registry
        for entry in form_entries(registry[name], {}, ("age", "sex"))
        if entry.sort == "column"
    }


def test_settings_that_name_a_column_offer_the_columns() -> None:
    assert offered(measures) == {
        ("individual-risk", "weights"),
        ("household-risk", "weights"),
        ("household-risk", "household"),
        ("household-contradictions", "household"),
        ("journalist-risk", "weights"),
        ("journalist-risk", "member"),
        ("marketer-risk", "weights"),
        ("marketer-risk", "member"),
        ("table-use", "weights"),
        ("means-use", "weights"),
        ("regression-use", "target"),
        ("estimate-use", "target"),
        ("estimate-use", "weights"),
        ("classifier-use", "target"),
        ("classification-metric", "label"),
    }
    assert offered(models) == {
        ("delta-presence", "member"),
        ("household-k-anonymity", "household"),
        ("person-k-anonymity", "person"),
        ("k-map", "weights"),
        ("k-map", "member"),
        ("highest-risk", "weights"),
        ("average-risk", "weights"),
        ("records-at-risk", "weights"),
    }
    assert offered(searches) == {("pbg-ea", "label")}


def test_a_value_is_text_though_its_help_mentions_a_column() -> None:
    (present,) = [entry for entry in form_entries(models["delta-presence"], {}, ("age",)) if entry.name == "present"]
    assert "column" in present.help
    assert present.sort == "text"
