"""Forms follow the types of settings, never the wording of their help."""

from __future__ import annotations

from crypsis.plan.sections import measures, models, searches
from crypsis.registry import Registry, Settings
from crypsis.studio.forms import entries


def offered(registry: Registry[Settings]) -> set[tuple[str, str]]:
    """Settings of a family for which a form offers one column of the table."""
    return {
        (name, entry.name)
        for name in registry
        for entry in entries(registry[name], {}, ("age", "sex"))
        if entry.sort == "column"
    }


def test_settings_that_name_a_column_offer_the_columns() -> None:
    assert offered(measures) == {
        ("classification-metric", "label"),
        ("estimate-use", "target"),
        ("estimate-use", "weights"),
        ("means-use", "weights"),
        ("classifier-use", "target"),
        ("regression-use", "target"),
        ("table-use", "weights"),
    }
    assert offered(models) == {("delta-presence", "member")}
    assert offered(searches) == {("lattice", "label")}


def test_a_value_is_text_though_its_help_mentions_a_column() -> None:
    (present,) = [entry for entry in entries(models["delta-presence"], {}, ("age",)) if entry.name == "present"]
    assert "column" in present.help
    assert present.sort == "text"
