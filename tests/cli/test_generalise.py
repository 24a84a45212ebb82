"""`crypsis generalise`: from a plan and a large file to a verified release, from Parquet and CSV alike."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from cli.test_commands import crypsis
from lazy_engines import people
from reference import reference

PLAN = """
[data]
source = "people.parquet"
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = "intervals:5,10,20" }
region = { role = "quasi", hierarchy = "prefixes:1" }
sex = { role = "quasi", hierarchy = "sex.csv" }
illness = { role = "confidential" }
wage = { role = "other", because = "an invented amount" }
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "l-diversity"
l = 2
[[waive]]
finding = "singling-out"
column = "wage"
because = "known to nobody outside"
[release]
suppression = "2%"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    frame = people(1_500)
    frame.write_parquet(folder / "people.parquet")
    frame.write_csv(folder / "people.csv", separator=";", null_value="?")
    (folder / "sex.csv").write_text("f,*\nm,*\n")
    (folder / "plan.toml").write_text(PLAN)
    text = 'source = "people.csv"\nmissing = ["?"]'
    (folder / "text.toml").write_text(PLAN.replace('source = "people.parquet"', text))
    return folder


def test_a_release_from_parquet_and_the_same_from_text(home: Path) -> None:
    made = {}
    for name in ("plan", "text"):
        answer = crypsis("generalise", home / f"{name}.toml", "-o", home / name, "--json")
        assert answer.returncode == 0, answer.stderr
        made[name] = json.loads(answer.stdout)
        assert crypsis("verify", home / name).returncode == 0
    assert made["plan"]["front"] == made["text"]["front"]
    assert made["plan"]["verdicts"] == made["text"]["verdicts"]
    one, other = (pl.read_parquet(home / n / "public" / "data-*.parquet").sort(pl.all()) for n in ("plan", "text"))
    assert one.equals(other)


def test_the_front_is_shown_without_a_release_and_levels_can_be_chosen(home: Path, tmp_path: Path) -> None:
    answer = crypsis("generalise", home / "plan.toml")
    assert answer.returncode == 0, answer.stderr
    assert "1500 records" in answer.stdout
    assert "least loss that meets the plan" in answer.stdout
    levels = "age=4,region=2,sex=1"
    answer = crypsis("generalise", home / "plan.toml", "--level", levels, "-o", tmp_path / "out", "--json")
    assert json.loads(answer.stdout)["levels"] == [4, 2, 1]
    assert crypsis("generalise", home / "plan.toml", "--level", "age=1").returncode == 2
    assert crypsis("generalise", home / "plan.toml", "-o", tmp_path / "out").returncode == 2, "exists"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('model = "l-diversity"\nl = 2', 'model = "t-closeness"'), "cannot be proven by counting"),
        (("k = 5", "k = 5000"), "no node reaches"),
        (("[release]", '[release]\nformat = "xlsx"'), 'write format = "csv" or "parquet"'),
        (('intervals:5,10,20" }', 'intervals:5,10,20", at_most = 0.001 }'), "relax the suppression, at_most of age"),
        (("[release]", '[[limit]]\nmeasure = "risk"\nat_most = 0.01\n[release]'), "the limit on risk (0.01 %)"),
        (("[release]", '[[limit]]\nmeasure = "propensity"\nat_most = 5\n[release]'), "limit risk, loss or suppressed"),
        (("[release]", '[[scenario]]\nname = "n"\nknows = ["age"]\n[release]'), "which is stricter"),
        (('"other", because = "an invented amount"', '"confidential"'), "the plan has 2"),
        (('source = "people.parquet"', 'source = "nobody.parquet"'), "does not exist"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(home: Path, tmp_path: Path, change: tuple[str, str], words: str) -> None:
    plan = home / "bad.toml"
    plan.write_text(PLAN.replace(*change))
    answer = crypsis("generalise", plan, "-o", tmp_path / "out")
    assert answer.returncode == 2
    assert words in answer.stderr
    assert not (tmp_path / "out").exists()


def test_a_column_that_nobody_decided_about_closes_the_gate_and_a_household_stays_inside(
    home: Path, tmp_path: Path
) -> None:
    plan, decided = home / "open.toml", 'wage = { role = "other", because = "an invented amount" }\n'
    plan.write_text(PLAN.replace(decided, ""))
    refused = crypsis("generalise", plan, "-o", tmp_path / "out")
    assert refused.returncode == 1
    assert "wage: nobody decided" in refused.stderr
    plan.write_text(PLAN.replace(decided, 'wage = { role = "household" }\n'))
    assert crypsis("generalise", plan, "-o", tmp_path / "out").returncode == 0
    assert "wage" not in pl.read_parquet(tmp_path / "out" / "public" / "data-*.parquet").columns


MASKED = """
[[mask]]
method = "microaggregation"
columns = ["wage"]
k = 5
"""


@pytest.mark.parametrize("source", ["people.parquet", "people.csv"])
def test_columns_of_mask_are_masked_before_the_count(home: Path, tmp_path: Path, source: str) -> None:
    plan, waiver = home / "masked.toml", PLAN[PLAN.index("[[waive]]") : PLAN.index("[release]")]
    known = PLAN.replace('"confidential" }', '"confidential", because = "told to a doctor only" }')
    text = known.replace(waiver, "").replace('source = "people.parquet"', f'source = "{source}"\nmissing = ["?"]')
    plan.write_text(text)
    refused = crypsis("generalise", plan, "-o", tmp_path / "bare")
    assert refused.returncode == 1, "most people are alone with their wage"
    plan.write_text(text + MASKED)
    answer = crypsis("generalise", plan, "-o", tmp_path / "out", "--json")
    assert answer.returncode == 0, answer.stderr
    published = pl.read_parquet(tmp_path / "out" / "public" / "data-*.parquet")
    assert published["wage"].drop_nulls().n_unique() <= 1500 // 5
    assert crypsis("verify", tmp_path / "out").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "the masked copy is gone"
    original = pl.read_parquet(home / "people.parquet")
    assert abs(published["wage"].mean() / original["wage"].mean() - 1) < 0.05


def test_waivers_on_the_command_line_are_those_the_refusal_names(home: Path, tmp_path: Path) -> None:
    plan, waiver = home / "waived.toml", PLAN[PLAN.index("[[waive]]") : PLAN.index("[release]")]
    plan.write_text(PLAN.replace(waiver, ""))
    refused = crypsis("generalise", plan, "-o", tmp_path / "out")
    assert refused.returncode == 1
    assert "--waive 'singling-out:wage=" in refused.stderr
    answer = crypsis("generalise", plan, "-o", tmp_path / "out", "--waive", "singling-out:wage=an invented amount")
    assert answer.returncode == 0, answer.stderr


def test_all_that_counting_cannot_obey_is_said_at_once(home: Path, tmp_path: Path) -> None:
    plan = home / "everything.toml"
    text = PLAN.replace('prefixes:1" }', 'prefixes:1", labels = { north = "N" } }').replace(
        "[release]",
        '[[use]]\nmeasure = "means-use"\ncolumns = ["wage"]\nby = ["sex"]\ntolerance = 1.0\n[release]\nformat = "xlsx"',
    )
    plan.write_text(text)
    answer = crypsis("generalise", plan, "-o", tmp_path / "out")
    assert answer.returncode == 2
    for said in ("columns.region.labels:", "[[use]]:", "release.format:", "crypsis run"):
        assert said in answer.stderr
    for name in ("--plan", "--format", "--original"):
        assert name not in answer.stderr, "no option that the command does not have"


def test_settings_of_columns_and_limits_are_obeyed(home: Path, tmp_path: Path) -> None:
    plan = home / "obeyed.toml"
    text = PLAN.replace('prefixes:1" }', 'prefixes:1", lock = true, label = "where they live" }')
    text = text.replace("[release]", '[[limit]]\nmeasure = "risk"\nat_most = 5\n[release]\nformat = "csv"')
    plan.write_text(text)
    answer = crypsis("generalise", plan, "-o", tmp_path / "out", "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)["least_loss"]
    assert found["levels"]["region"] == 0, "locked"
    assert found["risk"] <= 5
    public = tmp_path / "out" / "public"
    assert [path.name for path in public.glob("data*")] == ["data-000.csv"]
    assert "where they live" in (public / "codebook.json").read_text()
    told = json.loads((tmp_path / "out" / "internal" / "report.json").read_text())
    assert [(each["name"], each["holds"]) for each in told["demands"]] == [("risk", True)]
    assert crypsis("verify", tmp_path / "out").returncode == 0
    assert set(pl.read_csv(public / "data-000.csv")["region"].drop_nulls()) == {"north", "south", "east", "west"}


def test_a_rule_that_a_masking_beforehand_breaks_is_refused(home: Path, tmp_path: Path) -> None:
    plan = home / "ruled.toml"
    known = PLAN.replace('"confidential" }', '"confidential", because = "told to a doctor only" }')
    ruled = MASKED + '[[rule]]\nholds = "{}"\n[release]'
    middle = pl.read_parquet(home / "people.parquet")["wage"].median()
    plan.write_text(known.replace("[release]", ruled.format(f"wage <= {middle} or wage > {middle}")))
    answer = crypsis("generalise", plan, "-o", tmp_path / "kept")
    assert answer.returncode == 0, answer.stderr
    extreme = pl.read_parquet(home / "people.parquet")["wage"].min()
    plan.write_text(known.replace("[release]", ruled.format(f"wage <= {extreme} or wage > {extreme + 10}")))
    plan.write_text(known.replace("[release]", ruled.format(f"if age >= 18 then wage != {middle}")))
    refused = crypsis("generalise", home / "ruled.toml", "-o", tmp_path / "out", "--replaces", tmp_path / "kept")
    assert refused.returncode in (0, 1)


def test_a_drafted_plan_is_taken_as_it_is(tmp_path: Path) -> None:
    pl.read_csv(reference("adult.csv")).head(4000).write_csv(tmp_path / "people.csv")
    assert crypsis("init", tmp_path / "people.csv", "-o", tmp_path / "plan.toml").returncode == 0
    drafted = (tmp_path / "plan.toml").read_text()
    for setting in ("[[limit]]", "linked =", 'format = "csv"', "[[mask]]"):
        assert setting in drafted
    waivers = [f"assumption:{name}=an invented reason" for name in ("capital-gain", "capital-loss", "salary-class")]
    answer = crypsis(
        "generalise",
        tmp_path / "plan.toml",
        "-o",
        tmp_path / "out",
        *(w for each in waivers for w in ("--waive", each)),
    )
    assert answer.returncode == 0, answer.stderr
    assert "nodes evaluated, as the search PBG-EA chose" in answer.stdout
    assert [path.name for path in (tmp_path / "out" / "public").glob("data*")] == ["data-000.csv"]
    assert crypsis("verify", tmp_path / "out").returncode == 0
