"""The gate on what a file reveals by itself: one for Python, the command line and counted data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cli.test_commands import crypsis
from crypsis.audits import Published
from crypsis.errors import PlanError, ReleaseRefused
from crypsis.masking import Microaggregation, RankSwapping
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.measures import measures
from crypsis.privacy import KAnonymity
from crypsis.release import MeasuredLimit, ReleaseDescription, lazy_audit, publish, verify
from crypsis.release.evidence import evidence_of
from crypsis.release.findings import AuditTerms, audit_release_findings
from crypsis.release.lazy_audit import audit_lazy_release
from crypsis.release.lazy_release import publish_counted
from crypsis.release.ledger import ReleaseLedger
from crypsis.release.published import flatten, order_published_rows
from crypsis.rulebook import Rulebook
from crypsis.table.attribute import Kind
from crypsis.table.example import example
from crypsis.table.files import write_table
from crypsis.table.lazy import count_lazily
from crypsis.table.table import LOCAL, Table
from waiving import REASON, waive, waiving

K2 = [KAnonymity(k=2)]


@pytest.fixture
def people() -> Table:
    """Forty people: sexes shared, weights and incomes nobody shares."""
    columns = {
        "sex": ["f", "m"] * 20,
        "weight": [float(n) for n in range(40)],
        "income": [1000.0 + n for n in range(40)],
    }
    return Table.from_columns(columns, {"sex": "quasi", "weight": "weight", "income": "confidential"})


def codes(single: int, role: str) -> Table:
    """Two thousand people, some of whom are alone with a code."""
    values = [*(f"only {n}" for n in range(single)), *(f"c{n % 40}" for n in range(2000 - single))]
    return Table.from_columns({"sex": ["f", "m"] * 1000, "code": values}, {"sex": "quasi", "code": role})


@pytest.mark.parametrize("single", [1, 98, 120])
def test_everybody_alone_needs_a_decision(single: int, tmp_path: Path) -> None:
    """One, 4.9 % and 6 % of the people alone on an untouched column: refused, with their count."""
    for role, unstated in (("other", ()), ("confidential", ("code",)), ("stratum", ())):
        with pytest.raises(ReleaseRefused, match=f"by itself: {single} hold"):
            publish(codes(single, role), tmp_path / "out", models=K2, unstated=unstated)
    folder = publish(codes(single, "other"), tmp_path / "waived", models=K2, waivers=waiving("code"))
    assert f"Alone with the value of one column: {single} by code." in verify(folder).singled_out


def test_a_rulebook_raises_the_count_from_which_on_it_needs_one(tmp_path: Path) -> None:
    def allowing(most: int) -> Rulebook:
        rules = [{"id": "alone", "demand": "singled-out", "at_most": most}]
        return Rulebook.model_validate({"name": "office", "title": "Office", "rule": rules})

    with pytest.raises(ReleaseRefused, match="98 hold a value"):
        publish(codes(98, "other"), tmp_path / "few", models=K2, rulebook=allowing(97))
    folder = publish(codes(98, "other"), tmp_path / "enough", models=K2, rulebook=allowing(98))
    inside = json.loads((folder / "internal" / "manifest.json").read_text())
    counted = [each["finding"] for each in inside["findings"] if each["finding"]["kind"] == "singling-out"]
    assert [(each["records"], each["refuses"]) for each in counted] == [(98, False)], "it is reported all the same"


def test_few_alone_with_a_stated_column_are_an_assumption(tmp_path: Path) -> None:
    folder = publish(codes(98, "confidential"), tmp_path / "out", models=K2)
    found = verify(folder)
    assert found.sound
    assert found.assumed == ("code",)
    assert "98 by code" in found.singled_out
    told = crypsis("verify", folder).stdout
    assert found.singled_out in told


def test_a_first_plan_leaves_nobody_alone_with_one_column(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    rows = 400
    columns = {
        "sex": np.where(rng.random(rows) < 0.5, "f", "m"),
        "age": rng.integers(20, 70, rows),
        "diagnosis": [f"d{n}" for n in np.minimum(rng.geometric(0.5, rows), 9)],
        "income": 100.0 * rng.integers(10, 25, rows),
    }
    columns["income"][:3] = [9100.0, 9900.0, 200.0]
    write_table(Table.from_columns(columns), tmp_path / "people.csv")
    plan = tmp_path / "plan.toml"
    assert crypsis("init", tmp_path / "people.csv", "-o", plan).returncode == 0
    text = plan.read_text()
    assert "[[waive]]" not in text
    assert {"top-coding", "bottom-coding", "global-recoding"} <= {
        line.split('"')[1] for line in text.splitlines() if line.startswith("method")
    }
    assert crypsis("run", plan, "--budget", "2 generations", "--out", tmp_path / "run").returncode == 0
    answer = crypsis("release", tmp_path / "run", "-o", tmp_path / "out")
    assert "whoever knows income together with" in answer.stderr, "who may know it is still a person's to say"
    assert "by itself" not in answer.stderr
    stated = [f"--waive=assumption:{name}={REASON}" for name in ("income", "diagnosis")]
    answer = crypsis("release", tmp_path / "run", *stated, "-o", tmp_path / "out")
    assert "Nobody is alone with a value of one column." in answer.stdout


@pytest.mark.parametrize("with_original", [True, False])
def test_columns_nobody_masked_are_named_with_share_and_remedy(
    people: Table, tmp_path: Path, with_original: bool
) -> None:
    with pytest.raises(ReleaseRefused) as refused:
        publish(people, tmp_path / "out", models=K2, original=people if with_original else None)
    told = str(refused.value)
    assert "weight singles out 100 % of the records by itself: 40 hold a value that no other record holds" in told
    assert "income singles out 100 %" in told
    assert "sex" not in told
    for remedy in ('quasi_identifiers=[…, "weight"]', 'identifiers=[…, "weight"]', 'waivers={"singling-out:weight"'):
        assert remedy in told
    assert '"singling-out:weight": "…"' in told, "the argument of a call from Python"
    assert "--waive" not in told
    assert list(tmp_path.iterdir()) == []


def test_each_column_needs_a_reason_of_its_own(people: Table, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match="income singles out"):
        publish(people, tmp_path / "out", models=K2, waivers=waiving("weight"))
    folder = publish(people, tmp_path / "out", models=K2, original=people, waivers=waiving("weight", "income"))
    assert verify(folder).sound
    inside = json.loads((folder / "internal" / "manifest.json").read_text())
    assert [each["waived"] for each in inside["findings"]] == [REASON, REASON]
    assert inside["findings"][0]["finding"] == {
        "kind": "singling-out",
        "columns": ["weight"],
        "records": 40,
        "share": 1.0,
        "refuses": True,
        "by": 1,
    }
    report = (folder / "internal" / "report.html").read_text()
    assert "weight singles out 100 % of the records by itself" in report
    assert report.count(f"“{REASON}”") == 2, "on the page to sign, and beside the findings of one kind"
    assert report.count("; the same of income, with 100 %") == 2
    assert "2 findings waived" in report
    assert "(2).</li>" in report, "the signatory is told how many waivers there are to read"
    for path in (folder / "public").iterdir():
        assert REASON not in path.read_text(), "reasons stay in the house"


@pytest.mark.parametrize(
    ("waivers", "words"),
    [
        ({"singling-out:wieght": "no such column"}, "there is no column 'wieght' .did you mean 'weight'"),
        ({"singling-in:weight": "no such finding"}, "there is no finding 'singling-in'"),
        ({"singling-out:weight": "so"}, "needs a reason in words"),
        ({"rows": "no rulebook was given"}, "no rulebook given"),
    ],
)
def test_a_waiver_must_name_something_and_say_why(
    people: Table, tmp_path: Path, waivers: dict[str, str], words: str
) -> None:
    with pytest.raises(PlanError, match=words):
        publish(people, tmp_path / "out", models=K2, waivers=waivers)


def test_dropping_or_masking_the_columns_needs_no_waiver(people: Table, tmp_path: Path) -> None:
    dropped = people.drop(["weight", "income"])
    assert verify(publish(dropped, tmp_path / "dropped", models=K2)).sound
    method = Microaggregation(k=4, columns=("weight", "income"))
    grouped = method.mask(people, np.random.default_rng(0))
    assert verify(publish(grouped, tmp_path / "grouped", models=K2, original=people)).sound


def test_a_swapped_value_stands_alone_and_leads_to_nobody(people: Table, tmp_path: Path) -> None:
    """Beside the original it is seen that the value is another's; without it nobody can know."""
    swapped = RankSwapping(columns=("weight", "income"), percent=50).mask(people, np.random.default_rng(0))
    stayed = (swapped.column("weight") == people.column("weight")).mean()
    assert stayed <= 0.05
    description, limit = (
        ReleaseDescription(family="perturbation"),
        MeasuredLimit(measures.build("record-linkage"), 100.0),
    )
    shared = {"models": [], "original": people, "limits": [limit], "description": description}
    assert verify(publish(swapped, tmp_path / "out", **shared)).sound  # type: ignore[arg-type]


def test_cells_that_kept_their_value_are_seen_through_recoding() -> None:
    """Locally recoded numbers become text: a leaf still says what was collected, a group does not."""
    original = example(120, seed=5)
    masked = LocalRecoding(k=3).mask(original, np.random.default_rng(0))
    rows = order_published_rows(masked, "shuffled", np.random.default_rng(1))
    published = flatten(masked, rows)
    cells = Published(published, original.take(rows)).as_collected
    seen: list[bool] = []
    for name in original.quasi_identifiers:
        assert masked.level(name) == LOCAL
        leaf, hierarchy = original.leaf_codes(name), original.attribute(name).hierarchy
        assert hierarchy is not None
        names = (*hierarchy.labels[0], None)
        shown = (*published.labels(name), None)
        expected = [names[a] == shown[b] is not None for a, b in zip(leaf[rows], published.column(name), strict=True)]
        assert cells[name].tolist() == expected
        seen += expected
    assert 0 < sum(seen) < len(seen)
    assert all(cells[name][published.codes([name])[:, 0] >= 0].all() for name in original.confidential)


def test_a_plan_decides_for_every_way_to_release(people: Table, tmp_path: Path) -> None:
    write_table(people, tmp_path / "people.csv")
    plan = tmp_path / "plan.toml"
    text = '[data]\nsource = "people.csv"\n[columns]\nsex = { role = "quasi", hierarchy = "merge:1" }\n'
    text += 'weight = { role = "weight" }\nincome = { role = "confidential" }\n'
    text += '[[require]]\nmodel = "k-anonymity"\nk = 2\n[[search]]\nname = "pbg-ea"\n[run]\nbudget = "1 generations"\n'
    plan.write_text(text)
    checked = crypsis("check", plan, "--no-estimate").stdout
    assert "weight singles out 100 % of the records by itself, 40: no release before it has the role" in checked
    answer = crypsis("run", plan, "--out", tmp_path / "run")
    assert answer.returncode == 0, answer.stderr
    refused = crypsis("release", tmp_path / "run", "-o", tmp_path / "out")
    assert refused.returncode == 1
    assert "weight singles out" in refused.stderr
    on_record = crypsis("release", tmp_path / "run", *waive("weight", "income"), "-o", tmp_path / "waived")
    assert on_record.returncode == 0, on_record.stderr
    for column in ("weight", "income"):
        text += f'[[waive]]\nfinding = "singling-out"\ncolumn = "{column}"\nbecause = "{REASON}"\n'
    plan.write_text(text)
    assert (
        f"weight singles out 100 % of the records by itself, 40, which is waived: {REASON}"
        in crypsis("check", plan, "--no-estimate").stdout
    )
    for words in ((tmp_path / "people.csv", "-p", plan), (tmp_path / "run2",)):
        if words[0].name == "run2":
            assert crypsis("run", plan, "--out", tmp_path / "run2").returncode == 0
        answer = crypsis("release", *words, "-o", tmp_path / f"by-{words[0].stem}")
        assert answer.returncode == 0, answer.stderr


def test_counted_files_pass_the_same_gate(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": ["f", "m"] * 50, "wage": np.arange(100) / 7, "hours": [40, 41] * 50})
    source = count_lazily(frame.lazy(), quasi_identifiers=["sex"], hierarchies={"sex": "prefixes:1"})
    demanded: dict[str, Any] = {"models": [KAnonymity(k=5)], "suppression": 0.0}
    with pytest.raises(ReleaseRefused, match="wage singles out 100 %"):
        publish_counted(source, [0], tmp_path / "out", **demanded)
    with pytest.raises(ReleaseRefused, match="hours: nobody decided"):
        publish_counted(source.decide_roles({"wage": "identifier"}), [0], tmp_path / "out", **demanded)
    assert list(tmp_path.iterdir()) == []
    decided = source.decide_roles({"wage": "confidential", "hours": "other"})
    folder = publish_counted(decided, [0], tmp_path / "out", waivers=waiving("wage"), **demanded)
    checked = verify(folder)
    assert checked.sound
    assert any("so masked cells that other columns restore" in note for note in checked.notes)
    assert f"“{REASON}”" in (folder / "internal" / "report.html").read_text()
    assert "combinations of two or three" in (folder / "internal" / "report.html").read_text()


def test_households_of_counted_files_are_left_out(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": ["f", "m"] * 50, "home": np.arange(100) // 4})
    source = count_lazily(frame.lazy(), quasi_identifiers=["sex"], hierarchies={"sex": "prefixes:1"})
    held = source.decide_roles({"home": "household"})
    folder = publish_counted(held, [0], tmp_path / "out", models=[KAnonymity(k=5)], suppression=0.0)
    assert pl.read_parquet(folder / "public" / "*.parquet").columns == ["sex"]


def test_two_columns_of_counted_files_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten towns and ten streets: most pairs of values are one person, counted in one part or in several."""
    rng = np.random.default_rng(4)
    places = {name: rng.integers(0, 10, 60) for name in ("town", "way")}
    frame = pl.DataFrame({"sex": rng.choice(["f", "m"], 60), **places})
    roles = {"town": "other", "way": "other"}
    (tmp_path / "data").mkdir()
    frame.write_parquet(tmp_path / "data" / "a.parquet")
    single = list(Counter(frame.select("town", "way").rows()).values()).count(1)
    for part in (5_000_000, 20):
        monkeypatch.setattr(lazy_audit, "PART", part)
        found = audit_lazy_release(tmp_path / "data", roles)
        assert {each.columns for each in found.findings} == {("town", "way"), ("way", "town")}
        assert all(each.refuses and each.records == single for each in found.findings)
        assert (found.combinations, found.all_combinations, found.whole) == (1, 1, False)
    secret = audit_lazy_release(tmp_path / "data", roles | {"way": "confidential"})
    assert [(each.columns, each.refuses) for each in secret.findings] == [(("way", "town"), False)]


def test_values_are_counted_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a table in memory counts them: missing is no value, and the parts of the hashes add up."""
    rng = np.random.default_rng(2)
    values = pl.Series(rng.integers(0, 3000, 2000)).cast(pl.Float64).set(pl.Series(np.arange(2000) % 9 == 0), None)
    frame = pl.DataFrame({"x": values, "t": values.cast(pl.String), "few": rng.integers(0, 20, 2000)})
    (tmp_path / "data").mkdir()
    frame[:1200].write_parquet(tmp_path / "data" / "a.parquet")
    frame[1200:].write_parquet(tmp_path / "data" / "b.parquet")
    expected = int((values.drop_nulls().value_counts()["count"] == 1).sum())
    for part in (5_000_000, 300):
        monkeypatch.setattr(lazy_audit, "PART", part)
        found = audit_lazy_release(tmp_path / "data", dict.fromkeys(frame.columns, "other")).findings
        assert [(each.columns, each.records) for each in found] == [(("x",), expected), (("t",), expected)]


def test_three_columns_together_are_counted_in_files_too(tmp_path: Path) -> None:
    """Any two of three columns say little; all three are one person's."""
    (tmp_path / "data").mkdir()
    grid = [(a, b, c) for a in range(12) for b in range(12) for c in range(12)]
    frame = pl.DataFrame({name: [row[place] for row in grid] for place, name in enumerate("abc")})
    frame.write_parquet(tmp_path / "data" / "part.parquet")
    found = audit_lazy_release(tmp_path / "data", {"a": "quasi", "b": "other", "c": "other"})
    assert {each.columns for each in found.findings} == {("b", "a", "c"), ("c", "a", "b")}
    assert found.findings[0].records == len(grid)
    assert (found.combinations, found.all_combinations) == (4, 4)


def test_a_locally_recoded_column_has_no_order() -> None:
    """Values and groups of one column stand beside each other: neither numbers nor ranks."""
    original = example(120, seed=5)
    masked = LocalRecoding(k=3).mask(original, np.random.default_rng(0))
    published = flatten(masked, order_published_rows(masked, "kept"))
    before = {name: original.attribute(name).kind for name in original.quasi_identifiers}
    assert {Kind.NUMERIC, Kind.ORDINAL} <= set(before.values())
    assert {published.attribute(name).kind for name in before} == {Kind.NOMINAL}


def test_what_is_only_reported_is_no_waiver(tmp_path: Path) -> None:
    reported = publish(codes(98, "confidential"), tmp_path / "reported", models=K2)
    assert evidence_of(reported).waived == []
    waived = publish(codes(98, "other"), tmp_path / "waived", models=K2, waivers=waiving("code"))
    assert evidence_of(waived).waived == ["singling-out"]


def test_few_alone_in_counted_files_are_reported(tmp_path: Path) -> None:
    """Of 600 people 24 are alone with sex and pay, or 120."""
    for name, single in (("few", 12), ("many", 60)):
        pay = [*(n // 2 for n in range(2 * single)), *([-1] * (600 - 2 * single))]
        folder = tmp_path / name
        folder.mkdir()
        pl.DataFrame({"sex": ["f", "m"] * 300, "pay": pay}).write_parquet(folder / "data-000.parquet")
        (found,) = audit_lazy_release(folder, {"sex": "quasi", "pay": "confidential"}, unstated=["pay"]).findings
        assert (found.records, found.refuses) == (2 * single, 2 * single > 0.05 * 600)


def test_the_order_of_the_rows_decides_about_no_finding() -> None:
    """A weight that says the region of most: what it restores beyond chance is estimated on records as they come."""
    draw = np.random.default_rng(5)
    region, ages = draw.integers(0, 6, 300), draw.integers(20, 60, 300).astype(float)
    weight = region * 10.0 + np.random.default_rng(5).integers(0, 8, 300)
    columns = {"region": [f"r{each}" for each in region], "age": ages.tolist(), "weight": weight.tolist()}
    people = Table.from_columns(columns, roles={"region": "quasi", "age": "quasi", "weight": "weight"})
    masked = Microaggregation(k=5).mask(people, rng=1)
    found = set()
    for seed in range(12):
        rows = order_published_rows(masked, "shuffled", np.random.default_rng(seed))
        found.add(audit_release_findings(flatten(masked, rows), people, rows, AuditTerms("aggregation")).findings)
    assert len(found) == 1


def test_one_refusal_says_everything(tmp_path: Path) -> None:
    """A missed guarantee, an exceeded limit, a finding and broken rules: all in one message."""
    rng, towns = np.random.default_rng(1), ["north", "south"] * 30
    columns = {"town": towns, "age": [20 + n // 6 for n in range(60)], "code": [f"c{n}" for n in range(60)]}
    columns["ill"] = rng.choice(list("abcdefgh"), 60).tolist()
    roles = {"town": "quasi", "age": "quasi", "code": "other", "ill": "confidential"}
    people = Table.from_columns(columns, roles)
    ledger = ReleaseLedger(tmp_path / "ledger.json", "people.csv")
    rules = [{"id": "large", "demand": "class-size", "at_least": 20}]
    rules.append({"id": "never", "demand": "class-size", "at_least": 30, "waivable": False})
    book = Rulebook.model_validate({"name": "strict", "title": "Strict", "rule": rules})
    limit = MeasuredLimit(measures.build("class-risk"), 0.1)
    with pytest.raises(ReleaseRefused) as refused:
        publish(
            people, tmp_path / "second", models=[KAnonymity(k=9)], original=people, limits=[limit], rulebook=book,
            ledger=ledger,
        )  # fmt: skip
    told = str(refused.value)
    for words in (
        "k-anonymity requires at least 9",
        "class-risk may be at most 0.1",
        "no waiver helps against it",
        '"singling-out:code": "…"',
        "rule large",
        '"large": "…"',
    ):
        assert words in told
    assert "rule never" in told
    assert '"never"' not in told
    assert refused.value.rules == ("large",)
    assert "what a waiver can let pass" in told, "a waiver of all would not be enough"
    assert 'finding = "singling-out"' in refused.value.proposal
    assert not (tmp_path / "second").exists()


def test_a_file_taken_as_perturbed_is_refused_with_all_else_and_the_earlier_release_is_named(tmp_path: Path) -> None:
    """Cells that no masking explains, a silent scenario, contradicted figures and an earlier release: one message."""
    rng = np.random.default_rng(4)
    columns: dict[str, list[object]] = {"town": list("nnss" * 10), "age": [20 + n // 8 for n in range(40)]}
    columns["ill"] = [f"d{n // 2}" for n in range(40)]
    people = Table.from_columns(columns, {"town": "quasi", "age": "quasi", "ill": "confidential"})
    ledger = ReleaseLedger(tmp_path / "ledger.json", "people.csv")
    hidden = people.with_columns({"town": np.zeros(40, dtype=np.int32)})
    assumed = {f"assumption:{name}": "a reason in words" for name in ("ill",)}
    publish(
        Microaggregation(k=4, columns=("age",)).mask(people, rng=1), tmp_path / "first", ledger=ledger,
        models=[KAnonymity(k=2)], original=people, waivers=assumed | {"homogeneous:ill": "a reason in words"},
    )  # fmt: skip
    swapped = hidden.with_columns({"age": rng.permutation(people.column("age"))})
    with pytest.raises(ReleaseRefused) as refused:
        publish(
            swapped, tmp_path / "second", models=[KAnonymity(k=9)], original=people, ledger=ledger,
            description=ReleaseDescription(beyond=["no demand of the plan covers an intruder who knows all"]),
        )  # fmt: skip
    told = str(refused.value)
    for words in (
        "k-anonymity requires at least 9",
        "to let pass what a waiver can let pass, in this release alone, write a reason in place of each …, beside",
        '"dependence:ill": "…"',
        "taken as perturbed",
        "no demand of the plan covers",
        f"the earlier release is in {(tmp_path / 'first').resolve()}; if nobody outside has it, replaces=",
        '"earlier-release:',
    ):
        assert words in told
    assert told.count("nothing was released") == 1
