"""Scripts of sdcMicro and projects of ARX become first plans; what is not understood is named, nothing is executed."""

from __future__ import annotations

import io
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.test_commands import crypsis
from crypsis.errors import CrypsisError, PlanError
from crypsis.plan.arx_project import read_arx_project
from crypsis.plan.foreign_settings import read_foreign_settings
from crypsis.plan.sdcmicro_script import calls_of_script, read_sdcmicro_script
from crypsis.table.files import read_table
from crypsis.table.table import Table


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "name": [f"p{row}" for row in range(240)],
            "age": rng.integers(18, 80, 240),
            "native-country": rng.choice(["fr", "de", "it", "at"], 240),
            "sex": rng.choice(["f", "m"], 240),
            "income": rng.normal(2000, 400, 240).round(1),
            "disease": rng.choice(["flu", "cold", "none"], 240),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


SCRIPT = """
library(sdcMicro); keys <- c('age', "native.country",
  'sex')   # a comment with createSdcObj(
sdc = createSdcObj(dat = data, keyVars = keys, numVars = c("income"), sensibleVar = 'disease',
                   excludeVars = "name", weightVar = NULL, hhId = nobody, seed = 0)
sdc <- groupAndRename(sdc, var = "native.country", before = c("de", "at"), after = c("german"))
sdc <- kAnon(sdc, k = c(7))
sdc <- undolast(sdc)
sdc <- localSuppression(sdc, k = 3L, importance = c(3, 2, 1))
sdc <- microaggregation(sdc, aggr = 4, method = "rmd")
sdc <- addNoise(sdc, noise = 50, variables = "income", method = "correlated2")
system("rm -rf /")
sdc <- shuffle(sdc, form = income ~ age)
"""


def test_a_script_is_read(people: Path) -> None:
    found = read_sdcmicro_script(SCRIPT.encode(), "settings.R", read_table(people))
    assert found.roles == {
        "age": "quasi", "native-country": "quasi", "sex": "quasi", "income": "quasi", "disease": "confidential",
        "name": "identifier",
    }  # fmt: skip
    assert found.k == 3, "what was undone does not count"
    assert found.importance == {"age": 1.0, "native-country": 3.0, "sex": 5.0}
    assert found.hierarchies["native-country"] == [
        ["at", "german", "*"], ["de", "german", "*"], ["fr", "fr", "*"], ["it", "it", "*"],
    ]  # fmt: skip
    assert found.steps == [
        ("generalisation", {}),
        ("cell-suppression", {"columns": ["age", "native-country", "sex"], "k": 3, "missing": "wildcard"}),
        ("microaggregation", {"columns": ["income"], "k": 4}),
        ("noise", {"columns": ["income"], "amount": 0.5, "correlated": True}),
    ]
    assert found.notes == [
        "settings.R: createSdcObj (line 4): what hhId is was not understood; skipped",
        "settings.R: microaggregation (line 10): method 'rmd' is replayed as mdav",
        "settings.R: not understood and skipped: library (line 2), system (line 12), shuffle (line 13)",
    ]


def test_breaks_of_numbers_become_a_hierarchy(people: Path) -> None:
    table = read_table(people)
    script = 'a <- createSdcObj(d, keyVars="age")\na <- globalRecode(a, column="age", breaks=c(0, 29, 49, 100))\n'
    rows = {row[0]: row[1] for row in read_sdcmicro_script(script.encode(), "s.R", table).hierarchies["age"]}
    assert (rows["18"], rows["29"], rows["30"], rows["79"]) == ("18-29", "18-29", "30-49", "50-79")
    coded = script + 'a <- topBotCoding(a, value=70, replacement=70, kind="top", column="age")\n'
    [_, (method, step)] = read_sdcmicro_script(coded.encode(), "s.R", table).steps
    assert (method, step["columns"]) == ("top-coding", ["age"])
    assert step["percent"] == pytest.approx(100 * float(np.mean(table.column("age") > 70)), abs=1e-3)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abc(),<-='\"\n# {}[]0:%$\\", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    list(calls_of_script(text))


def project(criteria: list[str], weights: str = "", **parts: bytes) -> bytes:
    """A project as ARX writes it, without the parts that are Java objects."""
    columns = {
        "name": ("IDENTIFYING_ATTRIBUTE", "String", ""),
        "age": ("QUASI_IDENTIFYING_ATTRIBUTE", "Integer", "<ref>hierarchies/age.csv</ref><min>All</min><max>All</max>"),
        "sex": ("QUASI_IDENTIFYING_ATTRIBUTE", "String", ""),
        "native-country": ("INSENSITIVE_ATTRIBUTE", "String", ""),
        "disease": ("SENSITIVE_ATTRIBUTE", "String", ""),
        "gone": ("QUASI_IDENTIFYING_ATTRIBUTE", "String", ""),
    }
    entries = "".join(
        f"<assigment><name>{name}</name><type>{role}</type><datatype>{kind}</datatype>{more}</assigment>"
        for name, (role, kind, more) in columns.items()
    )
    rules = "".join(f"<criterion>{each}</criterion>" for each in criteria)
    files = {
        "project.xml": "<project><name>x</name><separator>;</separator></project>",
        "input/definition.xml": f"<definition>{entries}</definition>",
        "input/config.xml": "<config><relativeMaxOutliers>0.04</relativeMaxOutliers>"
        f"<attributeWeights>{weights}</attributeWeights><criteria>{rules}</criteria></config>",
        "input/hierarchies/age.csv": "".join(f"{age};{age // 10 * 10}s;*\n" for age in range(18, 80)),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, parts.get(name.rpartition("/")[2].partition(".")[0], text.encode()))
        archive.writestr("project.dat", b"\xac\xed\x00\x05sr")
    return content.getvalue()


CRITERIA = [
    "4-anonymity", "distinct-2-diversity for attribute 'disease'",
    "recursive-(3.0,2)-diversity for attribute 'disease'",
    "0.4-closeness with equal distance for attribute 'disease'",
    "0.3-closeness with hierarchical ground-distance for attribute 'disease'", "(0.0,0.5)-presence",
]  # fmt: skip


def test_a_project_is_read(people: Path) -> None:
    weight = "<attributeWeight><attribute>age</attribute><weight>1.0</weight></attributeWeight>"
    found = read_arx_project(project(CRITERIA, weight), "x.deid", read_table(people))
    assert found.roles == {
        "name": "identifier", "age": "quasi", "sex": "quasi", "native-country": "other", "disease": "confidential",
    }  # fmt: skip
    assert (found.k, found.suppression, found.importance) == (4, 0.04, {"age": 2.0})
    assert found.hierarchies["age"][0] == ["18", "10s", "*"]
    assert found.demands == [
        {"model": "l-diversity", "confidential": ["disease"], "l": 2},
        {"model": "l-diversity", "confidential": ["disease"], "l": 2, "kind": "recursive", "c": 3.0},
        {"model": "t-closeness", "confidential": ["disease"], "t": 0.4, "distance": "equal"},
        {"model": "t-closeness", "confidential": ["disease"], "t": 0.3, "distance": "equal"},
    ]
    assert found.notes == [
        "x.deid: the definition names 'gone', which the table does not have; skipped",
        "x.deid: the privacy model \"0.3-closeness with hierarchical ground-distance for attribute 'disease'\" has no "
        "hierarchy to measure by; equal distances are demanded",
        "x.deid: the privacy model '(0.0,0.5)-presence' is not understood; skipped",
    ]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.deid", b"no zip", "is damaged or no zip file"),
        ("a.deid", project([], definition=b"<definition><assigment>"), "input/definition.xml is damaged"),
        ("a.deid", project([], definition=b"<!DOCTYPE a><a/>"), "declares a document type"),
        ("a.R", b"x <- 1\n", "no column of the table has a role there"),
        ("a.txt", b"", "settings are read from a script of sdcMicro (.R) or a project of ARX (.deid)"),
    ],
)
def test_settings_that_cannot_be_read_are_refused(
    name: str, content: bytes, sentence: str, people: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CrypsisError) as refusal:
        read_foreign_settings(tmp_path / name, read_table(people))
    assert sentence in str(refusal.value)
    answer = crypsis("init", people, "--from", tmp_path / name, "-o", tmp_path / "plan.toml")
    assert answer.returncode == 2
    assert not (tmp_path / "plan.toml").exists()
    assert not list(tmp_path.glob("*-hierarchies"))


def test_a_missing_file_is_refused(people: Path, tmp_path: Path) -> None:
    table: Table = read_table(people)
    with pytest.raises(PlanError, match="cannot be read"):
        read_foreign_settings(tmp_path / "none.R", table)


def test_both_become_plans_that_can_be_checked(people: Path, tmp_path: Path) -> None:
    (tmp_path / "settings.R").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "x.deid").write_bytes(project(CRITERIA))
    for name in ("settings.R", "x.deid"):
        plan = tmp_path / f"{name[0]}-plan.toml"
        drafted = crypsis("init", people, "--from", tmp_path / name, "--cautious", "-o", plan)
        assert drafted.returncode == 0, drafted.stderr
        assert f"{name}: taken over: " in drafted.stdout
        document = tomllib.loads(plan.read_text(encoding="utf-8"))
        assert document["columns"]["disease"]["role"] == "confidential"
        assert document["require"][0]["k"] == (3 if name == "settings.R" else 4)
        checked = crypsis("check", plan)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    arx = tomllib.loads((tmp_path / "x-plan.toml").read_text(encoding="utf-8"))
    assert arx["release"]["suppression"] == "4%"
    assert [each["model"] for each in arx["require"]].count("t-closeness") == 2
    assert arx["columns"]["age"]["hierarchy"] == "x-plan-hierarchies/age-1.csv"


def test_the_masking_of_a_script_is_replayed(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    (tmp_path / "settings.R").write_text(SCRIPT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert crypsis("init", "people.csv", "--from", "settings.R", "--cautious").returncode == 0
    lines = [line[2:] for line in Path("plan.toml").read_text().splitlines() if line.startswith("# crypsis ")]
    assert len(lines) == 5
    for line in lines:
        answer = crypsis(*shlex.split(line)[1:])
        assert answer.returncode in (0, 1), (line, answer.stderr)  # 1: the demands of the plan do not hold in it
    assert Path("settings-4.csv").exists()
