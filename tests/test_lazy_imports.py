"""Packages load their names when asked for, and registries the class that is named."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from crypsis.lazy_imports import public_names
from crypsis.registry import position_in_registry

PACKAGES = [
    f"crypsis.{package}"
    for package in (
        "attacks audits charts encodings evolution masking measures measures.utility plan privacy release report "
        "rulebook run searches searches.composite searches.gomm searches.pbg_ea searches.categorical_masking "
        "searches.mixed_masking searches.partitions table table.rules text"
    ).split()
]

ONE = """
import sys
from crypsis.measures import measures
assert measures["cell-loss"].__name__ == "CellLoss"
assert "crypsis.measures.estimate_use" not in sys.modules
first = list(measures)
print(*first)
"""
ANOTHER = """
import sys
from crypsis.measures import measures
assert "table-use" in measures
print(*measures)
"""
SHADOW = """
import crypsis.measures.assess
from crypsis.measures import assess
assert callable(assess) and callable(crypsis.measures.assess)
"""


def said(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_holds_every_name_it_lists_and_no_other(package: str) -> None:
    module, names = import_module(package), public_names(package)
    assert sorted(names) == sorted(module.__all__)
    for name, home in names.items():
        assert getattr(module, name) is getattr(import_module(home), name)
    assert set(names) <= set(dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = module.Nothing


def test_one_measure_is_loaded_without_the_others_and_the_order_is_the_same_whichever_came_first() -> None:
    assert said(ONE) == said(ANOTHER)


def test_a_function_is_not_hidden_by_the_module_of_its_name() -> None:
    said(SHADOW)


def test_a_module_that_is_not_listed_stands_behind_those_that_are() -> None:
    assert position_in_registry("crypsis.privacy", "outside.model") > position_in_registry(
        "crypsis.privacy", "crypsis.privacy.presence"
    )
