"""The public face: every listed name is there, and means the function and not a module of the same name."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import crypsis


@pytest.mark.parametrize("name", crypsis.__all__)
def test_every_public_name_exists_and_is_no_module(name: str) -> None:
    assert not isinstance(getattr(crypsis, name), ModuleType)


def test_names_survive_the_import_of_everything() -> None:
    code = (
        "import crypsis, crypsis.cli, crypsis.release, crypsis.searches, crypsis.plan; "
        "print([n for n in crypsis.__all__ if type(getattr(crypsis, n)).__name__ == 'module'])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_names_stand_by_subject_in_their_packages_without_a_further_import() -> None:
    code = (
        "import crypsis; "
        "print(crypsis.measures.ClassRisk is crypsis.ClassRisk, 'KAnonymity' in dir(crypsis.privacy), "
        "'composite' in crypsis.searches.searches, crypsis.audits.audit is crypsis.audit)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["True"] * 4


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        crypsis.no_such_name  # noqa: B018


def test_everything_registered_is_public_under_its_own_name() -> None:
    from crypsis.plan.sections import measures, models, searches

    for registry in (crypsis.methods, crypsis.partitioners, measures, models, searches):
        for name in registry:
            assert getattr(crypsis, registry[name].__name__) is registry[name], f"{registry.family} {name}"
