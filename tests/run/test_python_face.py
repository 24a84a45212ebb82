"""What people meet who use Crypsis from Python: published frames, default searches and demands, verdicts in words."""

from __future__ import annotations

import logging
import pickle
import re
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import crypsis
from crypsis.audits import Finding, FindingKind
from crypsis.cli.front import show_front
from crypsis.errors import address
from crypsis.plan.draft import draft
from crypsis.release import ReleaseLedger
from crypsis.run.watching import watch_progress
from crypsis.table.files import read_table, write_table
from crypsis.text import attack_decisions_text, attack_remedies

QUASI = ["age", "sex", "district", "education"]
ROLES = {
    "quasi_identifiers": QUASI,
    "confidential": ["income", "diagnosis"],
    "identifiers": ["person"],
    "roles": {"marital": "other", "occupation": "other", "hours": "household"},
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return crypsis.to_frame(crypsis.example(120))


@pytest.fixture(scope="module")
def run(people: pl.DataFrame) -> crypsis.Run:
    made = crypsis.protect(people, **ROLES, limits={}, k=3, search="local-recoding", budget="1 generations", seed=1)
    yield made
    made.close()


def test_a_frame_is_what_the_release_writes(run: crypsis.Run, tmp_path: Path) -> None:
    safe = run.frame()
    why = dict.fromkeys(
        (f"{kind}:{name}" for kind in crypsis.audits.FindingKind for name in safe.columns), "invented people only"
    )
    run.release(folder=tmp_path / "out", waivers=why, preview=True)
    written = pl.read_csv(tmp_path / "out" / "public" / "data.csv")
    assert safe.columns == written.columns
    assert not {"person", "hours"} & set(safe.columns), "neither identifiers nor households"
    assert safe.height == written.height
    for name in safe.columns:
        ours, theirs = (frame[name].cast(pl.String).drop_nulls().sort().to_list() for frame in (safe, written))
        if safe[name].dtype.is_numeric():
            ours, theirs = (sorted(map(float, each)) for each in (ours, theirs))
        assert ours == theirs, name


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_the_library_of_the_original_and_neither_its_index_nor_unused_categories(
    people: pl.DataFrame, library: str
) -> None:
    given = {"pandas": people.to_pandas, "polars": people.clone, "pyarrow": people.to_arrow}[library]()
    if library == "pandas":
        given = given.set_index(pd.Index([f"name {n}" for n in range(len(given))]))
        given["district"] = pd.Categorical(given["district"], categories=[*given["district"].unique(), "of one hermit"])
    with crypsis.protect(
        given, **ROLES, limits={}, k=3, search="local-recoding", budget="1 generations", seed=1
    ) as run:
        safe = run.frame()
    assert type(safe) is {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}[library]
    if library == "pandas":
        assert safe.index.tolist() == list(range(len(safe)))
        assert "hermit" not in str(getattr(safe["district"].dtype, "categories", ""))


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_frame_has_the_types_of_the_original(people: pl.DataFrame, library: str) -> None:
    """Whole numbers with holes, text, truth values, categories and days, as pandas and pyarrow hold them."""
    ages = [None, *people["age"].to_list()[1:]]
    given = pd.DataFrame({"age": pd.array(ages, dtype="Int64"), "weeks": np.arange(120, dtype="int16")})
    given["sex"] = pd.Series(people["sex"].to_list(), dtype=object)
    given["district"] = pd.Categorical(people["district"].to_list())
    given["old"] = given["age"].fillna(0).to_numpy() > 40
    given["born"] = pd.Timestamp("2026-01-01") - pd.to_timedelta(given["age"].fillna(30).astype(int) * 365, unit="D")
    frame = given if library == "pandas" else pa.Table.from_pandas(given, preserve_index=False)
    known = ["age", "sex", "district", "old", "born"]
    settings = {"limits": {}, "k": 3, "search": "memetic", "budget": "1 generations", "seed": 1}
    with crypsis.protect(frame, quasi_identifiers=known, roles={"weeks": "other"}, **settings) as run:
        safe = run.frame("best")
    if library == "pandas":
        assert [str(safe[name].dtype) for name in safe] == [str(given[name].dtype) for name in safe]
    else:
        assert [str(field.type) for field in safe.schema] == [
            str(frame.schema.field(n).type) for n in safe.column_names
        ]
        assert not any(field.metadata for field in safe.schema)


def test_rows_of_a_frame_are_shuffled(run: crypsis.Run) -> None:
    kept = run.decode().take(run.decode().kept).column("income")
    shown = run.frame()["income"].to_numpy()
    assert np.array_equal(np.sort(kept), np.sort(shown), equal_nan=True)
    assert not np.array_equal(kept, shown, equal_nan=True)


def test_no_frame_before_somebody_decides_about_every_column(people: pl.DataFrame) -> None:
    settings = {"k": 3, "search": "local-recoding", "budget": "1 generations", "seed": 1, "limits": {}}
    refused = pytest.raises(crypsis.ReleaseRefused, match=r'nobody decided what person, .* roles={"person": "other"}')
    with crypsis.protect(people, quasi_identifiers=["age", "sex"], **settings) as run, refused:
        run.frame()


def test_python_and_init_draft_the_same_demands_limits_and_searches(tmp_path: Path) -> None:
    table = crypsis.example(200)
    write_table(table, tmp_path / "people.csv")
    collected = read_table(tmp_path / "people.csv")
    text = draft(tmp_path / "people.csv", tmp_path / "plan.toml", collected, crypsis.profile(collected), 5)
    drafted = tomllib.loads(text)
    roles = {name: column["role"] for name, column in drafted["columns"].items()}
    frame = crypsis.to_frame(collected)
    assert crypsis.profile(frame).roles == roles
    with crypsis.protect(frame, roles=roles, budget="1 evaluations", seed=1) as run:
        assert [each.model_dump()["name"] for each in run.plan.search] == [each["name"] for each in drafted["search"]]
        assert run.plan.search[0].name == "composite"
        assert [(each.measure, each.at_most) for each in run.plan.limit] == [("risk", 20.0)]
        assert [each.model for each in run.plan.require] == [each["model"] for each in drafted["require"]]
        for name in run.original.quasi_identifiers:
            assert run.original.attribute(name).hierarchy is not None, f"{name}: drafted as by init"


def test_a_demand_that_no_masking_can_meet_is_refused_before_the_search(people: pl.DataFrame) -> None:
    with pytest.raises(crypsis.PlanError, match=r"classes of at least 1000 records are required and the file has 120"):
        crypsis.protect(people, **ROLES, k=1000)
    for k in (0, "five"):
        with pytest.raises(crypsis.PlanError, match="k: "):
            crypsis.protect(people, **ROLES, k=k)
    values = people["diagnosis"].n_unique()
    lacking = rf"51 different values of 'diagnosis' are required in every class and the file has {values}"
    with pytest.raises(crypsis.PlanError, match=lacking):
        crypsis.protect(people, **ROLES, models=crypsis.LDiversity(l=51))
    alike = r"at most 0\.5 % of the people may be found, and one class of all 120 records lets 0\.833 % be found"
    with pytest.raises(crypsis.PlanError, match=alike):
        crypsis.protect(people, **ROLES, limits={"risk": 0.5})


def test_where_nothing_is_known_to_others_the_suggested_roles_are_named(people: pl.DataFrame) -> None:
    with pytest.raises(crypsis.PlanError, match=r"no column is a quasi-identifier.*crypsis\.profile\(data\)\.roles"):
        crypsis.protect(people)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"budget": 5}, "budget: 5 is not a budget; write 60s"),
        ({"budget": "5 apples"}, "unknown unit 'apples'"),
        ({"seed": -1}, "a whole number of at least 0"),
        ({"seed": "mine"}, "a whole number of at least 0"),
        ({"seed": True}, "a whole number of at least 0"),
        ({"search": 5}, "search: a value of type int names no search"),
        ({"search": [None]}, "search: a value of type NoneType names no search"),
        ({"models": crypsis.KAnonymity}, "models: the class KAnonymity is no privacy model with its settings"),
        ({"models": ["k-anonymity"]}, "models: a value of type str is no privacy model with its settings"),
        ({"limits": [("risk", 20)]}, "limits: a value of type list says nothing by name"),
        ({"hierarchies": "age"}, "hierarchies: a value of type str says nothing by name"),
        ({"folder": ""}, "folder: an empty text is no path"),
        ({"folder": 5}, "folder: a value of type int is no path"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_a_sentence(
    people: pl.DataFrame, wrong: dict[str, object], said: str
) -> None:
    with pytest.raises(crypsis.PlanError, match=said):
        crypsis.protect(people, **ROLES, **wrong)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([-1.0, *[2.0] * 119], "column 'w' has 1 negative weights"),
        ([None, *[2.0] * 119], "column 'w' has 1 missing weights"),
        ([None] * 120, "column 'w' has 120 missing weights"),
        (["a", *["b"] * 119], "column 'w' holds no numbers and cannot weigh records"),
    ],
)
def test_weights_that_count_nobody_are_refused_before_the_search(
    people: pl.DataFrame, weights: list[object], said: str
) -> None:
    frame = people.with_columns(pl.Series("w", weights, dtype=None if any(weights) else pl.Float64))
    with pytest.raises(crypsis.PlanError, match=said):
        crypsis.protect(frame, quasi_identifiers=QUASI, roles={"w": "weight"})


def test_codes_are_no_quantities_unless_somebody_says_so(people: pl.DataFrame) -> None:
    """As in a drafted plan: the mean of two codes is no code."""
    codes = people.select(QUASI).with_columns(district=pl.col("district").cast(pl.Categorical).to_physical())
    settings = {"quasi_identifiers": iter(QUASI), "k": 3, "budget": "1 evaluations", "seed": 1}
    with crypsis.protect(codes, **settings, identifiers=None) as run:
        assert run.original.attribute("district").kind is crypsis.Kind.NOMINAL
        assert run.original.attribute("district").hierarchy is not None, "so that every search can be drafted"
        assert run.original.attribute("age").kind is crypsis.Kind.NUMERIC
        assert run.frame().schema == codes.schema
    settings |= {"quasi_identifiers": QUASI, "kinds": {"district": "numeric"}}
    with crypsis.protect(codes, **settings) as run:
        assert run.original.attribute("district").kind is crypsis.Kind.NUMERIC


def test_one_class_of_all_records_keeps_the_limit_that_is_drafted_for_it(people: pl.DataFrame) -> None:
    """One in 117 is 0.8547 per cent and a little more."""
    with crypsis.protect(people.head(117), **ROLES, k=117, budget="1 evaluations", seed=1) as run:
        assert run.front.solutions[0].figure("k") == 117


def test_the_front_prints_as_the_command_line_does(
    people: pl.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One table for both, as wide as the terminal, in which the solution that is chosen stands."""
    monkeypatch.setenv("COLUMNS", "90")
    with crypsis.protect(
        people,
        **ROLES,
        k=3,
        search=["memetic", "local-recoding"],
        budget="3 generations",
        seed=1,
        folder=tmp_path / "r",
    ) as run:
        printed = str(run.front).splitlines()
        show_front(run.front, run.front.listed)
        assert printed[:-1] == capsys.readouterr().out.splitlines()[: len(printed) - 1]
        assert max(map(len, printed)) <= 90
        for offer in run.front.offers:
            assert any(line.split()[:1] == [str(offer.solution.number)] for line in printed)
        none = replace(run.front, everything=())
        assert "nothing to release" in str(none)


def test_a_second_release_into_the_same_folder_says_how_to_go_on(run: crypsis.Run, tmp_path: Path) -> None:
    why = {f"{kind}:{n}": "invented people only" for kind in crypsis.audits.FindingKind for n in run.original.names}
    run.release(folder=tmp_path / "out", waivers=why, preview=True)
    with pytest.raises(crypsis.TableError, match=r"holds an earlier release and is never overwritten.*replaces=\""):
        run.release(folder=tmp_path / "out", waivers=why, preview=True)


def test_a_verdict_says_whether_the_demand_is_kept_and_by_how_many(people: pl.DataFrame) -> None:
    table = crypsis.Table.from_columns({"town": ["a", "a", "a", "b", "b"]}, roles={"town": "quasi"})
    failed, kept = (crypsis.KAnonymity(k=k).judge(table) for k in (3, 2))
    assert str(failed) == failed.statement
    assert repr(failed).startswith("Verdict(k-anonymity does not hold for 2 of 5 records: 2 attained")
    assert repr(kept).startswith("Verdict(k-anonymity holds: 2 attained")
    assert failed.statement.startswith(
        "does not hold: 2 of 5 records fail, the worst attains 2; demanded is that every"
    )
    assert kept.statement.startswith("holds for all 5 records: every record")
    nobody = crypsis.KAnonymity(k=2).judge(replace(table, kept=np.zeros(5, dtype=np.bool_)))
    assert nobody.statement.startswith("does not hold: demanded is that")
    assert bool(kept)
    assert not failed, "a verdict that does not hold is not true in an if"


@pytest.mark.parametrize(
    "asked",
    [
        lambda frame, table: crypsis.KAnonymity(k=2).judge(frame),
        lambda frame, table: crypsis.Microaggregation(k=2).mask(frame),
        lambda frame, table: crypsis.RankSwapping().mask(frame),
        lambda frame, table: crypsis.CellLoss().against(frame),
        lambda frame, table: crypsis.CellLoss().against(table).read(frame),
        lambda frame, table: crypsis.to_frame(frame),
        lambda frame, table: crypsis.Run.open("kept", table=frame),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_where_roles_are_needed_is_to_be_wrapped(people: pl.DataFrame, asked: Any, library: str) -> None:
    frame = people if library == "polars" else people.to_pandas()
    table = crypsis.wrap(frame, quasi_identifiers=QUASI)
    with pytest.raises(crypsis.TableError, match=rf"a value of type {library}\.DataFrame has no roles; wrap it first"):
        asked(frame, table)


def test_what_is_no_path_or_no_reason_is_refused_in_a_sentence(run: crypsis.Run) -> None:
    for wrong, said in ((None, "a value of type NoneType"), (5, "a value of type int"), ("", "an empty text")):
        for call in (crypsis.verify, crypsis.Run.open, lambda folder: run.release(folder=folder)):
            with pytest.raises(crypsis.PlanError, match=f"folder: {said} is no path"):
                call(wrong)
    with pytest.raises(crypsis.PlanError, match="a rule was waived and no rulebook given"):
        run.release(folder="out", waivers={1: 2})


def test_a_closed_run_says_that_it_is_closed(people: pl.DataFrame) -> None:
    closed = crypsis.protect(people, **ROLES, k=3, search="local-recoding", budget="1 evaluations", seed=1)
    closed.close()
    with pytest.raises(crypsis.SearchError, match="the run is closed"):
        closed.choose()


def test_audits_and_verifications_say_first_whether_they_are_sound(run: crypsis.Run, tmp_path: Path) -> None:
    found = crypsis.audit(run.original)
    assert not found
    assert repr(found).startswith("Audit(NOT sound, stopped by ")
    why = {f"{kind}:{n}": "invented people only" for kind in crypsis.audits.FindingKind for n in run.original.names}
    run.release(folder=tmp_path / "out", waivers=why, preview=True)
    sound = crypsis.verify(tmp_path / "out")
    assert sound
    assert repr(sound).endswith(" is sound)")
    assert "k-anonymity: holds for all" in str(sound)
    assert "sound" in sound._repr_html_()
    data = tmp_path / "out" / "public" / "data.csv"
    data.write_text(data.read_text(encoding="utf-8").replace("2", "3", 1), encoding="utf-8")
    broken = crypsis.verify(tmp_path / "out")
    assert not broken
    assert "is NOT sound: " in repr(broken)


def test_improvements_are_logged_without_values(
    people: pl.DataFrame, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, logger="crypsis"):
        crypsis.protect(people, **ROLES, k=3, search="local-recoding", budget="2 generations", progress=True).close()
    lines = [record.message for record in caplog.records if record.name == "crypsis"]
    assert lines
    assert all(re.search(r": (1 solution|[2-9] solutions), loss from", line) for line in lines)
    assert all(one != other for one, other in pairwise(lines)), "one line for each improvement"
    assert "local-recoding" in capsys.readouterr().err
    caplog.clear()
    crypsis.protect(people, **ROLES, k=3, search="local-recoding", budget="1 generations").close()
    assert not capsys.readouterr().err, "neither a terminal nor a notebook"
    watch_progress([])


def test_a_run_with_a_folder_pickles_and_a_temporary_one_says_why_not(
    people: pl.DataFrame, run: crypsis.Run, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match="a run in a temporary folder cannot be pickled"):
        pickle.dumps(run)
    settings = {"k": 3, "search": "local-recoding", "budget": "1 generations", "seed": 1, "limits": {}}
    kept = crypsis.protect(people, **ROLES, **settings, folder=tmp_path / "kept")
    with kept, pickle.loads(pickle.dumps(kept)) as again:
        assert [each.number for each in again.front] == [each.number for each in kept.front]
        assert again.decode().fingerprint() == kept.decode().fingerprint()


def test_notebooks_show_small_escaped_tables(run: crypsis.Run, people: pl.DataFrame) -> None:
    odd = crypsis.Table.from_columns({"<b>town": ["a", "a", "b"]}, roles={"<b>town": "quasi"})
    shown = [
        run._repr_html_(),
        run.front._repr_html_(),
        run.card(general=False)._repr_html_(),
        crypsis.profile(odd)._repr_html_(),
        crypsis.KAnonymity(k=2).judge(odd)._repr_html_(),
    ]
    for each in shown:
        assert each.startswith("<table>")
        assert "<b>town" not in each
    assert "&lt;b&gt;town" in shown[3]
    assert "&lt;b&gt;town" in shown[4]


def test_a_release_with_a_ledger_of_its_own_neither_reads_nor_changes_that_of_the_account(
    run: crypsis.Run, tmp_path: Path
) -> None:
    names, kinds = run.original.names, list(crypsis.audits.FindingKind)
    why = {f"{kind}:{name}": "invented people only" for kind in kinds for name in names}
    account, own = ReleaseLedger.usual().file, tmp_path / "releases.json"
    account.write_text("not a ledger", encoding="utf-8")
    with pytest.raises(crypsis.TableError, match="the ledger of releases cannot be read"):
        run.release(folder=tmp_path / "refused", waivers=why, preview=True)
    run.release(folder=tmp_path / "preview", waivers=why, preview=True, ledger=own)
    assert not own.exists(), "a preview is entered nowhere"
    run.release(folder=tmp_path / "entered", waivers=why, ledger=own)
    assert [Path(each.folder).name for each in ReleaseLedger.usual(file=own).entries()] == ["entered"]
    assert account.read_text(encoding="utf-8") == "not a ledger"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"format": "xls"}, "format 'xls': choose csv, csv.gz, parquet"),
        ({"waivers": ["singling-out:income"]}, "waivers: give a reason for each finding"),
        ({"rulebook": "public"}, "public"),
    ],
)
def test_a_release_with_a_setting_that_cannot_be_is_refused_in_a_sentence(
    run: crypsis.Run, tmp_path: Path, wrong: dict[str, object], said: str
) -> None:
    with pytest.raises(crypsis.PlanError, match=said):
        run.release(folder=tmp_path / "out", **wrong)
    assert not list(tmp_path.iterdir())


def test_a_rulebook_is_named_as_on_the_command_line(run: crypsis.Run, tmp_path: Path) -> None:
    with pytest.raises(crypsis.ReleaseRefused, match="rulebook public-use: rule k"):
        run.release(folder=tmp_path / "out", rulebook="public-use")


PLAN_OR_OPTION = re.compile(r"\[\[|\[columns\]|(?<!\w)--\w|`crypsis |because = ")
"""What nobody writes who calls functions: lines of plans, options and commands."""


@pytest.mark.parametrize("kind", list(FindingKind))
def test_what_helps_against_a_finding_is_said_to_its_reader(kind: FindingKind) -> None:
    finding = Finding(kind, ("annual pay",), 3, 0.1)
    called = attack_remedies(finding)
    with address("command"):
        planned = attack_remedies(finding)
    with address("studio"):
        assert attack_remedies(finding) == []
        assert attack_decisions_text([finding]).endswith("decide about each above, under What the file reveals")
    assert len(called) == len(planned) > 0
    assert not PLAN_OR_OPTION.search(" ".join(called))
    assert kind is FindingKind.METADATA or PLAN_OR_OPTION.search(" ".join(planned))


REFUSED = {
    "a release": (
        lambda people, run, folder: run.release(folder=folder / "out"),
        'waivers={"singling-out:occupation": "…"',
    ),
    "undecided": (
        lambda people, run, folder: crypsis.protect(
            people, quasi_identifiers=["age", "sex"], k=3, search="local-recoding", budget="1 generations", seed=1
        ).release(folder=folder / "out"),
        'roles={"person": "other"}',
    ),
    "no search": (lambda people, run, folder: crypsis.protect(people, **ROLES, search=[]), 'search=["composite"]'),
    "a folder": (lambda people, run, folder: crypsis.protect(people, **ROLES, folder=folder / "x" / "y"), "folder="),
    "no solution": (lambda people, run, folder: run.choose(10_000), "print(run.front)"),
    "a key": (lambda people, run, folder: run.release(folder=folder, sign=folder / "key"), "crypsis.new_keys("),
    "no run": (lambda people, run, folder: crypsis.Run.open(folder), "crypsis.protect("),
    "no release": (lambda people, run, folder: crypsis.verify(folder), "run.release("),
    "no hierarchy": (
        lambda people, run, folder: crypsis.evolve(crypsis.wrap(people, **ROLES), "local-recoding"),
        'hierarchies={"age": "intervals',
    ),
    "a limit": (
        lambda people, run, folder: crypsis.protect(
            people, **ROLES, k=3, limits={"loss": 0.1}, search="local-recoding", budget="1 generations"
        ).choose(),
        'budget="60s"',
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_names_arguments_of_python_in_python(
    people: pl.DataFrame, run: crypsis.Run, tmp_path: Path, what: str
) -> None:
    refused, named = REFUSED[what]
    with pytest.raises(crypsis.CrypsisError) as error:
        refused(people, run, tmp_path)
    assert named in str(error.value)
    assert not PLAN_OR_OPTION.search(str(error.value))
    with address("command"):
        with pytest.raises(crypsis.CrypsisError) as error:
            refused(people, run, tmp_path)
        assert named not in str(error.value)


def test_how_a_file_is_read_is_said_to_its_reader(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("born,pay\n" + "01/02/1990,1\n" * 9, encoding="utf-8")
    read = lambda: " ".join(crypsis.read_table(tmp_path / "people.csv").notes)  # noqa: E731
    assert 'dates=["dd/mm/yyyy"]' in read()
    with address("command"):
        assert "--dates dd/mm/yyyy" in read()
    with address("studio"):
        assert "dates dd/mm/yyyy, under How the file is read" in read()
