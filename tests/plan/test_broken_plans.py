"""Broken plans and the sentences they get: where, what was found, what is allowed, what was meant."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from crypsis.errors import PlanError
from crypsis.plan import Plan
from crypsis.plan.checking import check_before_run
from crypsis.table.example import example
from crypsis.table.files import write_table

SOUND = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
sex = { role = "quasi" }
hours = { role = "quasi", kind = "numeric" }
diagnosis = { role = "confidential" }
[[require]]
model = "k-anonymity"
k = 3
[[search]]
name = "memetic"
k = 3
[run]
budget = "1 generation"
"""

# a change to the sound plan (old → new), or lines to add; and the words its refusal must hold
FORM = {
    "misspelt table": ("[run]", "[rum]", "rum: unknown key (did you mean 'run'?)"),
    "misspelt key of a column": (
        'role = "quasi" }',
        'rol = "quasi" }',
        "columns.sex.rol: unknown key (did you mean 'role'?)",
    ),
    "unknown role": (
        '{ role = "confidential" }',
        '{ role = "secret" }',
        "columns.diagnosis.role: 'secret' is not allowed",
    ),
    "unknown kind": ('kind = "numeric" }\ndiag', 'kind = "number" }\ndiag', "did you mean 'numeric'?"),
    "a column as text": ('sex = { role = "quasi" }', 'sex = "quasi"', "columns.sex: must be a table"),
    "no data": ('[data]\nsource = "people.csv"', "", "data is needed"),
    "empty source": ('source = "people.csv"', 'source = ""', "data.source"),
    "long delimiter": ('"people.csv"', '"people.csv"\ndelimiter = "ab"', "data.delimiter"),
    "unknown model": (
        "k-anonymity",
        "k-anonimity",
        "require[1]: there is no privacy model called 'k-anonimity' (did you mean 'k-anonymity'?)",
    ),
    "k too small": (
        "k = 3\n[[search]]",
        "k = 1\n[[search]]",
        "require[1]: k: input should be greater than or equal to 2 (found 1)",
    ),
    "k of the wrong type": (
        "k = 3\n[[search]]",
        'k = "three"\n[[search]]',
        "require[1]: k: must be a whole number (found 'three')",
    ),
    "misspelt setting of a model": (
        "k = 3\n[[search]]",
        "kk = 3\n[[search]]",
        "require[1]: kk: unknown key (did you mean 'k'?)",
    ),
    "a requirement without a model": ('model = "k-anonymity"', "", "require[1].model is needed"),
    "unknown search": (
        '"memetic"',
        '"memteic"',
        "search[1]: there is no search called 'memteic' (did you mean 'memetic'?)",
    ),
    "misspelt setting of a search": (
        "k = 3\n[run]",
        "k = 3\nk_value = 2\n[run]",
        "search[1]: k_value: unknown key (did you mean 'k_values'?)",
    ),
    "setting out of bounds": (
        "k = 3\n[run]",
        "k = 3\nchains_per_generation = 0\n[run]",
        "search[1]: chains_per_generation: input should be greater than or equal to 1",
    ),
    "settings that move nothing": (
        'name = "memetic"\nk = 3\n[run]',
        'name = "pbg-ea"\nk = 3\nindices = ["k", "s_k"]\nboxes = [1, 2]\n[run]',
        "search[1]: indices, boxes move nothing where k or l is demanded; leave them out, or set both to 0",
    ),
    "a search's own bad budget": (
        "k = 3\n[run]",
        'k = 3\nbudget = "soon"\n[run]',
        "search[1].budget: 'soon' is not a budget",
    ),
    "unknown unit of budget": ("1 generation", "10 parsecs", "run.budget: '10 parsecs' has the unknown unit 'parsecs'"),
    "nothing to spend": ("1 generation", "0s", "give one above zero"),
    "half a generation": ("1 generation", "1.5 generations", "no whole number"),
    "a year": ("1 generation", "9000h", "longer than 30 days"),
    "unknown engine": (
        "[run]",
        '[run]\nengine = "proceses"',
        "run.engine: 'proceses' is not allowed (did you mean 'processes'?)",
    ),
    "negative workers": ("[run]", "[run]\nworkers = -1", "run.workers"),
    "negative seed": ("[run]", "[run]\nseed = -4", "run.seed"),
    "unknown measure": (
        "[run]",
        '[measures]\nloss = ["cell-los"]\n[run]',
        "measures.loss[1]: there is no measure called 'cell-los' (did you mean 'cell-loss'?)",
    ),
    "unknown measure setting": (
        "[run]",
        '[measures]\nrisk = [{ name = "record-linkage", tie = "first" }]\n[run]',
        "measures.risk[1]: tie: unknown key (did you mean 'ties'?)",
    ),
    "suppression beyond all": (
        "[run]",
        '[release]\nsuppression = "150%"\n[run]',
        "release.suppression: '150%' is outside 0 to 100 %",
    ),
    "suppression in words": ("[run]", '[release]\nsuppression = "few"\n[run]', "'few' is not a share"),
    "unknown format": (
        "[run]",
        '[release]\nformat = "ods"\n[run]',
        "release.format: 'ods' is not allowed; choose csv, csv.gz, parquet, xlsx, sav, dta, xpt",
    ),
    "scenario without columns": ("[run]", '[[scenario]]\nname = "a"\nknows = []\n[run]', "scenario[1].knows"),
    "misspelt key of a scenario": (
        "[run]",
        '[[scenario]]\nname = "a"\nknws = ["age"]\n[run]',
        "scenario[1].knws: unknown key (did you mean 'knows'?)",
    ),
    "bad model of a scenario": (
        "[run]",
        '[[scenario]]\nname = "a"\nknows = ["age"]\n[[scenario.require]]\nmodel = "l-diversity"\nl = 0.5\n[run]',
        "scenario[1].require[1]: l:",
    ),
    "use without tolerance": ("[run]", '[[use]]\nmeasure = "cell-loss"\n[run]', "use[1].tolerance is needed"),
    "use of an unknown kind": (
        "[run]",
        '[[use]]\nmeasure = "cell-loss"\ntolerance = 5\nas = "objectiv"\n[run]',
        "use[1].as: 'objectiv' is not allowed (did you mean 'objective'?)",
    ),
    "negative tolerance": ("[run]", '[[use]]\nmeasure = "cell-loss"\ntolerance = -5\n[run]', "use[1].tolerance"),
    "impossible limit": ("[run]", '[[limit]]\nmeasure = "record-linkage"\nat_most = -1\n[run]', "limit[1].at_most"),
    "limit on nothing known": (
        "[run]",
        '[[limit]]\nmeasure = "recrd-linkage"\nat_most = 1\n[run]',
        "did you mean 'record-linkage'?",
    ),
}

CONTRADICTIONS = {
    "a method of the front beside a demand": (
        'name = "memetic"\nk = 3',
        'name = "pbg-ea"\nk = 3\nmethod = "nsga2"',
        "search[1] (pbg-ea): method moves nothing as 'nsga2' where k or l is demanded",
    ),
    "boxes beside measures that guide": (
        'name = "memetic"\nk = 3\n[run]',
        'name = "pbg-ea"\nboxes = [1, 1]\n[measures]\nguide = true\n[run]',
        "search[1] (pbg-ea): boxes moves nothing where measures guide the search",
    ),
    "nobody knows anything": (None, None, "columns: no column has the role 'quasi'"),
    "a risk among the losses": (
        "[run]",
        '[measures]\nloss = ["record-linkage"]\n[run]',
        "'record-linkage' is a risk and not a loss",
    ),
    "empty list of losses": ("[run]", "[measures]\nloss = []\n[run]", "measures.loss: the list is empty"),
    "the same measure twice": ("[run]", '[measures]\nloss = ["cell-loss", "cell-loss"]\n[run]', "named twice"),
    "no loss and a model": (
        "[run]",
        '[[limit]]\nmeasure = "loss"\nat_most = 0\n[run]',
        "limit[1]: no loss is allowed",
    ),
    "two limits on one figure": (
        "[run]",
        '[[limit]]\nmeasure = "risk"\nat_most = 5\n[[limit]]\nmeasure = "risk"\nat_most = 9\n[run]',
        "2 limits on 'risk'",
    ),
    "two suppression caps": (
        "[run]",
        '[[limit]]\nmeasure = "suppressed"\nat_most = 5\n[run]',
        "limit[1]: 5 % suppressed is allowed here and 1%",
    ),
    "two scenarios of one name": (
        "[run]",
        '[[scenario]]\nname = "a"\nknows = ["age"]\n[[scenario]]\nname = "a"\nknows = ["sex"]\n[run]',
        "2 scenarios are called 'a'",
    ),
    "an intruder who knows names": (
        "[run]",
        '[[scenario]]\nname = "a"\nknows = ["person"]\n[run]',
        "'person' is an identifier",
    ),
    "dask without a scheduler": ("[run]", '[run]\nengine = "dask"', "needs the address of a scheduler"),
    "a scheduler for nobody": ("[run]", '[run]\nscheduler = "tcp://h:1"', "needs no scheduler"),
    "an order for a number": (
        'kind = "numeric" }\ndiag',
        'kind = "numeric", order = ["1"] }\ndiag',
        "order is given but kind is numeric",
    ),
    "a hierarchy for an identifier": (
        '{ role = "identifier" }',
        '{ role = "identifier", hierarchy = "merge:2" }',
        "has no effect",
    ),
    "a scale for an identifier": (
        '{ role = "identifier" }',
        '{ role = "identifier", scale = "log" }',
        "columns.person: scale has no effect",
    ),
}

DATA = {
    "no such file": ('"people.csv"', '"peple.csv"', "data: "),
    "no such column": ("[[require]]", 'zip = { role = "quasi" }\n[[require]]', "'zip'"),
    "a scenario's unknown column": (
        "[run]",
        '[[scenario]]\nname = "a"\nknows = ["agee"]\n[run]',
        "no column 'agee' (did you mean 'age'?)",
    ),
    "logarithms of zeros": (
        'kind = "numeric" }\ndiag',
        'kind = "numeric", scale = "log" }\ndiag',
        "have no logarithm; write scale",
    ),
    "a scale of words": ('sex = { role = "quasi" }', 'sex = { role = "quasi", scale = "log" }', "holds no numbers"),
    "bad hierarchy": ("intervals:5,10,20", "intervals:5,7", "columns.age.hierarchy: "),
    "more k than people": ("k = 3\n[[search]]", "k = 5000\n[[search]]", "models: classes of at least 5000"),
    "a search that cannot": ('"memetic"', '"local-recoding"', "search[1] (local-recoding): column"),
    "a use of a missing column": (
        "[run]",
        '[[use]]\nmeasure = "means-use"\ncolumns = ["wage"]\nby = ["sex"]\ntolerance = 5\n[run]',
        "use[1]: ",
    ),
    "l-diversity without a secret": ('diagnosis = { role = "confidential" }', "", "no confidential"),
}


def changed(old: str | None, new: str | None) -> str:
    if old is None or new is None:
        return SOUND.replace('role = "quasi"', 'role = "other"')
    assert old in SOUND
    return SOUND.replace(old, new)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans")
    people = example(60, seed=2)
    hours = people.column("hours").copy()
    hours[0] = 0.0
    write_table(people.with_columns({"hours": hours}), path / "people.csv")
    return path


def test_the_sound_plan_is_sound(folder: Path) -> None:
    (folder / "plan.toml").write_text(SOUND)
    found = check_before_run(folder / "plan.toml")
    assert found.sound, found.problems
    assert found.rows == 60
    assert found.estimates[0].search == "memetic"


@pytest.mark.parametrize("case", FORM)
def test_what_is_wrong_in_form_is_named_with_its_place(case: str) -> None:
    old, new, words = FORM[case]
    with pytest.raises(PlanError) as refusal:
        Plan.parse(tomllib.loads(changed(old, new)), where="plan.toml")
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("plan.toml: ")


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_what_cannot_all_be_meant_is_refused(case: str) -> None:
    old, new, words = CONTRADICTIONS[case]
    with pytest.raises(PlanError) as refusal:
        Plan.parse(tomllib.loads(changed(old, new)))
    assert words in str(refusal.value)


@pytest.mark.parametrize("case", DATA)
def test_what_the_data_cannot_bear_is_found_by_check(case: str, folder: Path) -> None:
    old, new, words = DATA[case]
    text = changed(old, new)
    if "l-diversity" in case:
        text = text.replace('model = "k-anonymity"\nk = 3', 'model = "l-diversity"\nl = 2')
    (folder / "broken.toml").write_text(text)
    found = check_before_run(folder / "broken.toml")
    assert any(words in problem for problem in found.problems), found.problems


def test_all_problems_of_one_plan_come_together(folder: Path) -> None:
    text = SOUND
    for case in ("misspelt key of a column", "k too small", "unknown engine", "use without tolerance"):
        old, new, _ = FORM[case]
        text = text.replace(old, new)
    with pytest.raises(PlanError) as refusal:
        Plan.parse(tomllib.loads(text))
    for case in ("misspelt key of a column", "k too small", "unknown engine", "use without tolerance"):
        assert FORM[case][2] in str(refusal.value)


def test_hierarchies_models_and_searches_fail_together(folder: Path) -> None:
    text = SOUND.replace("intervals:5,10,20", "intervals:5,7").replace("k = 3\n[[search]]", "k = 5000\n[[search]]")
    (folder / "broken.toml").write_text(text)
    found = check_before_run(folder / "broken.toml")
    assert len(found.problems) >= 2


def test_text_that_is_no_toml(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("[data\n")
    with pytest.raises(PlanError, match="not valid TOML"):
        Plan.read(tmp_path / "plan.toml")
    with pytest.raises(PlanError, match="there is no such file"):
        Plan.read(tmp_path / "none.toml")
