"""The ledger of releases, and what two releases of one source reveal together: by hand, and against a slow twin."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from crypsis.attacks.several_releases import Together, reveal_together, tuples_together
from crypsis.cli.app import app
from crypsis.errors import PlanError, ReleaseRefused, TableError
from crypsis.privacy import KAnonymity
from crypsis.release import ReleaseDescription, ReleaseLedger, compare_releases, new_keys, publish, verify
from crypsis.release.later_signature import sign_release
from crypsis.release.ledger import (
    ENOUGH,
    KEPT,
    Sketch,
    earlier_findings,
    findings_from_ledger,
    label_hashes,
    number_hashes,
    source_digest,
)  # fmt: skip
from crypsis.release.manifest import sha256
from crypsis.studio.studio import studio_home
from crypsis.table.table import Table
from crypsis.text import attack_finding_text

ROLES = {"region": "quasi", "age": "quasi", "ill": "confidential"}
ILL = list("aabbccdd")


def people(regions: str, ages: list[float], ill: list[str] = ILL) -> Table:
    return Table.from_columns({"region": list(regions), "age": ages, "ill": ill}, roles=ROLES)


ORIGINAL = people("nnnnssss", [30.0, 31, 50, 51, 30, 31, 50, 51])
"""Region and age cross in pairs that share an illness: each file alone leaves two illnesses, both together one."""
BY_REGION = people("nnnnssss", [40.0] * 8)
BY_AGE = Table.from_columns(
    {"region": ["*"] * 8, "age": [30.0, 30, 50, 50, 30, 30, 50, 50], "ill": ILL}, roles=ROLES
)  # fmt: skip


def release(
    masked: Table,
    folder: Path,
    waivers: dict[str, str] | None = None,
    original: Table = ORIGINAL,
    ledger: ReleaseLedger | None = None,
) -> Path:
    description = ReleaseDescription("Test", "Grouped.", "aggregation")
    return publish(
        masked, folder, models=[KAnonymity(k=4)], original=original, description=description, waivers=waivers,
        ledger=ledger,
    )  # fmt: skip


def test_two_releases_fix_what_neither_tells_by_hand() -> None:
    found = reveal_together(ORIGINAL, [BY_REGION, BY_AGE.drop(["region"])])
    assert (found.people, found.joined_by, found.k) == (8, ("ill",), 4)
    assert found.fixed == {"ill": 8.0}
    assert (found.below, found.exposed, found.share) == (8.0, 8.0, 1.0)
    same = reveal_together(ORIGINAL, [BY_REGION, BY_REGION])
    assert (same.below, same.fixed, same.exposed) == (0.0, {"ill": 0.0}, 0.0)


def test_without_the_original_pairs_of_classes_are_expected_by_hand() -> None:
    found = tuples_together(BY_REGION, BY_AGE, ["ill"])
    assert found.fixed == {"ill": 8.0}, "an illness leads to one class of each file"
    # The a of n is the a of x or of y: with x = {a, c} only a is left of n = {a, b}, with y = {a, b} both are. Half a
    # person of n is expected to be known, half a person of s likewise, and whoever has b or c keeps company.
    crossing = tuples_together(
        people("nnss", [1.0] * 4, list("abac")), people("xyyx", [1.0] * 4, list("abac")), ["ill"]
    )
    assert (crossing.fixed, crossing.below, crossing.exposed) == ({"ill": 1.0}, 1.0, 1.0)
    assert tuples_together(BY_REGION, BY_REGION, ["ill"]).exposed == 0.0


@given(st.integers(0, 100_000))
@settings(max_examples=40, deadline=None)
def test_reveal_together_is_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    ages, codes = rng.integers(0, 6, n), rng.integers(0, 3, n)
    roles = {"age": "quasi", "size": "quasi", "ill": "confidential"}
    sizes = rng.integers(0, 6, n)

    def table(age: np.ndarray, size: np.ndarray) -> Table:
        ill = [str(code) for code in codes]
        return Table.from_columns({"age": age.astype(float), "size": size.astype(float), "ill": ill}, roles=roles)

    original = table(ages, sizes)
    tables = [original.drop(["size"]), original.drop(["age"])]
    k = min(np.unique(part, return_counts=True)[1].min() for part in (ages, sizes))
    below = fixed = 0
    for person in range(n):
        sets = [codes[part == part[person]] for part in (ages, sizes)]
        shared = [code for code in range(3) if all(code in some for some in sets)]
        left = sum(min((some == code).sum() for some in sets) for code in shared)
        below += left < k
        fixed += len(shared) == 1 and all(len(set(some.tolist())) > 1 for some in sets)
    found = reveal_together(original, tables)
    assert (found.below, found.fixed["ill"]) == (below, fixed)


def test_a_second_release_is_refused_unless_waived(tmp_path: Path) -> None:
    release(BY_REGION, tmp_path / "one")
    with pytest.raises(ReleaseRefused, match="earlier release of the same source and this one together fix it for 100"):
        release(_of_ages(), tmp_path / "two")
    assert not (tmp_path / "two").exists()
    reasons = {f"earlier-release:{name}": "the first was withdrawn" for name in ("ill", "region")}
    folder = release(_of_ages(), tmp_path / "two", reasons)
    report = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    assert any("an earlier release of the same source" in each["found"] for each in report["findings"])


def test_the_refusal_names_the_earlier_release_and_what_takes_its_place_is_listed_instead(tmp_path: Path) -> None:
    one = release(BY_REGION, tmp_path / "one")
    with pytest.raises(ReleaseRefused) as refused:
        release(_of_ages(), tmp_path / "two")
    assert f"the earlier release is in {one}" in str(refused.value)
    assert f'replaces="{one}"' in str(refused.value)
    for key in ("earlier-release:ill", "earlier-release:region"):
        assert key in refused.value.findings, "every key, not the first alone"
    ledger = ReleaseLedger.usual(replaces=[one])
    release(_of_ages(), tmp_path / "two", ledger=ledger)
    listed = {Path(each.folder).name: (bool(each.withdrawn), each.received) for each in ReleaseLedger.usual().entries()}
    assert listed == {"one": (True, False), "two": (False, True)}, "its entry stays, and nobody holds it"
    with pytest.raises(PlanError, match="one: no release in this folder is in the ledger"):
        ledger.check()


def test_one_variable_moves_the_ledger_and_the_studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRYPSIS_LEDGER")
    monkeypatch.delenv("CRYPSIS_STUDIO_HOME", raising=False)
    monkeypatch.setenv("CRYPSIS_HOME", str(tmp_path / "home"))
    assert ReleaseLedger.usual().file == tmp_path / "home" / "releases.json"
    assert studio_home() == tmp_path / "home" / "studio"
    monkeypatch.setenv("CRYPSIS_LEDGER", str(tmp_path / "other.json"))
    monkeypatch.setenv("CRYPSIS_STUDIO_HOME", str(tmp_path / "studio"))
    assert ReleaseLedger.usual().file == tmp_path / "other.json"
    assert studio_home() == tmp_path / "studio"


def _of_ages() -> Table:
    return people("nnnnnnnn", [30.0, 30, 50, 50, 30, 30, 50, 50])


def test_a_release_that_is_gone_is_mentioned_and_one_of_another_source_is_none(tmp_path: Path) -> None:
    other = people("nnnnssss", [30.0, 31, 50, 51, 30, 31, 50, 52])
    release(BY_REGION, tmp_path / "one", original=other)
    release(_of_ages(), tmp_path / "two")
    ledger = ReleaseLedger.usual()
    assert [Path(each.folder).name for each in ledger.earlier(ORIGINAL)] == ["two"]
    (tmp_path / "two").rename(tmp_path / "elsewhere")
    (gone,) = earlier_findings(ORIGINAL, BY_REGION, ledger.earlier(ORIGINAL))
    assert not gone.refuses
    assert "no longer where it was written" in attack_finding_text(gone)
    folder = release(BY_REGION, tmp_path / "three")
    report = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    assert any("no longer where it was written" in each["found"] for each in report["findings"])
    assert "no longer where" not in (folder / "public" / "report.json").read_text(encoding="utf-8")
    assert verify(folder).sound


def test_another_version_of_the_same_file_is_the_same_source(tmp_path: Path) -> None:
    ledger = ReleaseLedger.usual(tmp_path / "people.csv")
    folder = release(BY_REGION, tmp_path / "one")
    ledger.enter(ORIGINAL, folder)
    grown = people("nnnnsssss", [30.0, 31, 50, 51, 30, 31, 50, 51, 52], [*ILL, "a"])
    assert len(ledger.earlier(grown)) == 1
    assert ReleaseLedger.usual(tmp_path / "others.csv").earlier(grown) == []


def test_the_ledger_is_private_and_holds_no_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "state" / "releases.json"
    monkeypatch.setenv("CRYPSIS_LEDGER", str(file))
    before = os.umask(0)
    try:
        release(BY_REGION, tmp_path / "one")
    finally:
        os.umask(before)
    assert [p.stat().st_mode & 0o777 for p in (file, file.parent)] == [0o600, 0o700]
    (entry,) = json.loads(file.read_text(encoding="utf-8"))["releases"]
    assert entry["source"] == source_digest(ORIGINAL)
    assert entry["quasi_identifiers"] == ["region", "age"]
    known = {"source", "path", "folder", "date", "manifest", "quasi_identifiers", "sketch", "withdrawn", "received"}
    assert set(entry) == known
    assert (entry["withdrawn"], entry["received"]) == ("", True)


def test_a_release_that_somebody_received_still_counts_after_its_withdrawal(tmp_path: Path) -> None:
    ledger = ReleaseLedger.usual()
    ledger.withdraw(release(BY_REGION, tmp_path / "one"), received=True)
    assert not (tmp_path / "one").exists()
    (entry,) = ledger.earlier(ORIGINAL)
    assert entry.withdrawn
    kept = Path(entry.folder)
    assert kept.is_relative_to(ledger.file.parent)
    assert kept.stat().st_mode & 0o077 == 0
    assert not (kept / "internal").exists()
    with pytest.raises(ReleaseRefused, match="earlier release"):
        release(BY_AGE, tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_a_release_that_nobody_received_is_recorded_and_counts_no_more(tmp_path: Path) -> None:
    ledger = ReleaseLedger.usual()
    ledger.withdraw(release(BY_REGION, tmp_path / "one"), received=False)
    assert ledger.earlier(ORIGINAL) == []
    release(BY_AGE, tmp_path / "one")
    assert [bool(each.withdrawn) for each in ledger.entries()] == [True, False], "the same folder replaces no memory"
    with pytest.raises(TableError, match="no such release"):
        ReleaseLedger(tmp_path / "other.json").withdraw(tmp_path / "one", received=True)
    (tmp_path / "one" / "notes.txt").write_text("mine")
    with pytest.raises(TableError, match="files that no release has"):
        ledger.withdraw(tmp_path / "one", received=True)
    assert (tmp_path / "one" / "notes.txt").exists()


def test_a_later_signature_changes_no_data_and_is_entered(tmp_path: Path) -> None:
    folder, ledger = release(BY_REGION, tmp_path / "one"), ReleaseLedger.usual()
    data = (folder / "public" / "data.csv").read_bytes()
    private, public, key = new_keys(tmp_path / "office.key")
    assert sign_release(folder, private) == key
    found = verify(folder, key=public)
    assert (found.problems, found.signature) == ((), "trusted")
    assert verify(folder / "public", key=public).sound
    assert (folder / "public" / "data.csv").read_bytes() == data
    assert ledger.entries()[0].manifest == sha256(folder / "public" / "manifest.json")
    assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == ["one"]
    with pytest.raises(PlanError, match="signed already"):
        sign_release(folder, private)


def test_the_command_line_signs_later_and_withdraws(tmp_path: Path) -> None:
    def call(*words: object) -> Any:
        return CliRunner().invoke(app, [str(word) for word in words])

    folder = release(BY_REGION, tmp_path / "one")
    _, public, _ = new_keys(tmp_path / "office.key")
    assert call("sign", folder, "--key", tmp_path / "office.key").exit_code == 0
    assert call("verify", folder, "--key", public).exit_code == 0
    with pytest.raises(PlanError, match="signed already"):
        main_error(call("sign", folder, "--key", tmp_path / "office.key"))
    with pytest.raises(PlanError, match="say whether anybody outside"):
        main_error(call("withdraw", folder))
    assert folder.exists()
    answer = call("withdraw", folder, "--received", "--json")
    assert (answer.exit_code, json.loads(answer.stdout)["received"], folder.exists()) == (0, True, False)
    assert ReleaseLedger.usual().earlier(ORIGINAL)[0].withdrawn
    with pytest.raises(PlanError, match="no such folder"):
        main_error(call("withdraw", folder, "--received"))


def main_error(answer: Any) -> None:
    """What a command raises, as `main` turns it into a sentence and exit code 2."""
    assert answer.exit_code
    raise answer.exception


def test_what_is_not_sound_is_not_signed(tmp_path: Path) -> None:
    folder = release(BY_REGION, tmp_path / "one")
    private, _, _ = new_keys(tmp_path / "office.key")
    (folder / "public" / "data.csv").write_text("region\nn\n")
    with pytest.raises(ReleaseRefused, match="not sound"):
        sign_release(folder, private)
    assert verify(folder).signed_by == ""


def test_the_digest_is_of_values_whatever_their_roles_and_order() -> None:
    turned = ORIGINAL.with_roles({"age": "confidential"})
    names = ["ill", "region", "age"]
    sorted_columns = Table.from_columns(
        {"ill": ILL, "region": list("nnnnssss"), "age": ORIGINAL.column("age").tolist()},
        roles=dict.fromkeys(names, "quasi"),
    )
    assert source_digest(turned) == source_digest(ORIGINAL) == source_digest(sorted_columns)
    assert source_digest(BY_REGION) != source_digest(ORIGINAL)


def test_a_ledger_that_cannot_be_read_refuses_before_anything_is_written(tmp_path: Path) -> None:
    ledger = ReleaseLedger.usual()
    ledger.file.write_text("[]", encoding="utf-8")
    with pytest.raises(TableError, match="the ledger of releases cannot be read"):
        release(BY_REGION, tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_comparing_releases_says_what_both_fix(tmp_path: Path) -> None:
    reasons = {f"earlier-release:{name}": "the first was withdrawn" for name in ("ill", "region")}
    one, two = release(BY_REGION, tmp_path / "one"), release(_of_ages(), tmp_path / "two", reasons)
    for original in (None, ORIGINAL):
        found = compare_releases(one, two, original)
        assert found.together.fixed == {"ill": 8.0}
        assert found.reveals_more
    assert not compare_releases(one, one).reveals_more


# -- whether two tables are one source --


def survey(rows: int, seed: int) -> Table:
    """Records of which most are different."""
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(18, 90, rows).astype(float).tolist(),
        "town": [f"t{n}" for n in rng.integers(0, 30, rows)],
        "pay": rng.normal(2000, 400, rows).round().tolist(),
        "name": [f"p{n}" for n in range(rows)],
    }
    return Table.from_columns(columns, {"age": "quasi", "town": "quasi", "pay": "confidential", "name": "identifier"})


def test_the_order_of_records_and_columns_is_no_difference() -> None:
    table = survey(50, 1)
    shuffled = table.take(np.random.default_rng(2).permutation(50))
    assert source_digest(table) == source_digest(shuffled.with_roles({"town": "other"}))
    assert source_digest(table) != source_digest(table.take(np.arange(49)))
    twice = Table.from_columns({"a": [1, 1, 2]}), Table.from_columns({"a": [1, 2, 2]})
    assert source_digest(twice[0]) != source_digest(twice[1]), "how often a record occurs counts"
    swapped = Table.from_columns({"a": [1, 2], "b": [3, 4]}), Table.from_columns({"a": [1, 2], "b": [4, 3]})
    assert source_digest(swapped[0]) != source_digest(swapped[1]), "which values belong together counts"


def test_a_number_is_the_same_as_a_category() -> None:
    texts, numbers = Table.from_columns({"a": ["1", "2.5", None]}), Table.from_columns({"a": [1.0, 2.5, None]})
    assert source_digest(texts) == source_digest(numbers)
    zeros = Table.from_columns({"a": [0.0]}), Table.from_columns({"a": [-0.0]})
    assert source_digest(zeros[0]) == source_digest(zeros[1])


@given(st.integers(0, 10_000), st.integers(30, 900), st.floats(0.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_the_share_of_common_records_is_estimated(seed: int, rows: int, share: float) -> None:
    """The second table has a share of the first's records and as many others; the error is that of a sample."""
    first, others = survey(rows, seed), survey(rows, seed + 20_000)
    old = {tuple(first.column(n)[row] for n in ("age", "town", "pay")) for row in range(rows)}
    kept = np.random.default_rng(seed).permutation(rows)[: int(share * rows)]
    columns = {
        name: [*np.asarray(_values(first, name))[kept].tolist(), *_values(others, name)]
        for name in ("age", "town", "pay")
    }
    second = Table.from_columns(columns, {"age": "quasi", "town": "quasi", "pay": "confidential"})
    sketches = Sketch.of(first, "salt"), Sketch.of(second, "salt")
    true = len(kept) / min(rows, len(second))
    assert sketches[0].columns == ("age", "pay", "town"), "identifiers are left out"
    assert len(sketches[0].smallest) == min(KEPT, len(old))
    found = sketches[0].common(sketches[1])
    if true * rows > 4 * ENOUGH:
        assert abs(found - true) < 0.3
    if len(kept) == 0:
        assert found == 0.0


def _values(table: Table, name: str) -> list[object]:
    column = table.column(name)
    return list(column) if table.holds_numbers(name) else [table.labels(name)[code] for code in column]


def test_sketches_that_say_nothing() -> None:
    table = survey(200, 3)
    one = Sketch.of(table, "salt")
    assert one.common(one) == 1.0
    assert one.common(Sketch.of(table, "pepper")) == 0.0, "another salt"
    assert Sketch.of(table, "salt", ["height"]) == Sketch(), "a column that is not there"
    alike = Table.from_columns({"sex": ["f", "m"] * 100})
    assert Sketch.of(alike, "salt").common(Sketch.of(alike, "salt")) == 0.0, "two records of many tables"


def test_another_export_of_the_source_is_recognised(tmp_path: Path) -> None:
    """Other path, other order, another column, some records gone and some new."""
    table = survey(400, 5)
    masked = table.with_columns({"age": np.full(400, 50.0), "town": np.zeros(400, dtype=np.int32)})
    ledger = ReleaseLedger.usual(tmp_path / "march.csv")
    reasons = {f"{kind}:pay": "known to nobody outside" for kind in ("singling-out", "assumption")}
    described = ReleaseDescription("Test", "Grouped.", "aggregation")
    models = [KAnonymity(k=5)]
    publish(
        masked, tmp_path / "one", models=models, original=table, description=described, waivers=reasons, ledger=ledger
    )
    newer = survey(40, 6)
    columns = {
        name: [*_values(table.take(np.arange(399, 59, -1)), name), *_values(newer, name)]
        for name in ("town", "pay", "age")
    }
    columns["height"] = list(np.arange(380.0))
    april = Table.from_columns(columns, {"age": "quasi", "town": "quasi", "pay": "confidential", "height": "other"})
    elsewhere = ReleaseLedger.usual(tmp_path / "april.csv")
    assert [Path(each.folder).name for each in elsewhere.earlier(april)] == ["one"]
    assert elsewhere.earlier(survey(400, 7)) == []
    assert elsewhere.file.stat().st_mode & 0o777 == 0o600
    text = elsewhere.file.read_text(encoding="utf-8")
    assert len(json.loads(text)["releases"][0]["sketch"]["smallest"]) == KEPT


def test_a_ledger_without_sketches_is_read_and_gets_a_salt(tmp_path: Path) -> None:
    release(BY_REGION, tmp_path / "one")
    file = ReleaseLedger.usual().file
    content = json.loads(file.read_text(encoding="utf-8"))
    old = [{key: value for key, value in each.items() if key != "sketch"} for each in content["releases"]]
    file.write_text(json.dumps({"releases": old}), encoding="utf-8")
    assert len(ReleaseLedger.usual().earlier(ORIGINAL)) == 1
    release(BY_REGION, tmp_path / "two")
    assert json.loads(file.read_text(encoding="utf-8"))["salt"]


def test_three_releases_fix_what_no_two_do(tmp_path: Path) -> None:
    """Each file shows one of three columns, and an illness is of one crossing of all three: two files leave two."""
    cells = np.repeat(np.arange(8), 2)
    shown = {name: 10.0 + 10.0 * (cells >> place & 1) for place, name in enumerate("abc")}
    roles = {**dict.fromkeys("abc", "quasi"), "ill": "confidential"}
    original = Table.from_columns({**shown, "ill": [f"i{cell}" for cell in cells]}, roles)
    only = [original.with_columns({o: np.full(16, 15.0) for o in "abc" if o != name}) for name in "abc"]
    two = reveal_together(original, only[:2])
    assert (two.fixed, two.below) == ({"ill": 0.0}, 16.0)
    assert reveal_together(original, only).fixed == {"ill": 16.0}
    smaller = {"earlier-release:a": "four candidates are enough"}
    for place in (0, 1):
        release(only[place], tmp_path / f"release {place}", smaller, original)
    with pytest.raises(ReleaseRefused, match=r"ill: an earlier release of the same source .* fix it for 100 %"):
        release(only[2], tmp_path / "third", smaller, original)


@pytest.mark.parametrize(("people", "refuses"), [(5.0, False), (6.0, True)])
def test_one_person_in_twenty_may_be_found_with_an_earlier_release(people: float, refuses: bool) -> None:
    found = findings_from_ledger(Together(100, ("ill",), 5, people, {"ill": people}, people), ORIGINAL)
    assert [(each.columns, each.records, each.refuses) for each in found] == [
        (("ill",), people, refuses),
        (("region", "ill"), people, refuses),
    ]


@given(labels=st.lists(st.text(max_size=6) | st.sampled_from(["1", "1.0", " 2", "inf", "nan", "1_0", "-0", "٣", "x"])))
def test_labels_are_hashed_by_their_bytes_or_as_numbers(labels: list[str]) -> None:
    codes = np.arange(-1, len(labels), dtype=np.int32)
    lost, *found = label_hashes(labels, codes).tolist()
    assert lost == number_hashes(np.array([np.nan]))[0]
    for text, each in zip(labels, found, strict=True):
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        wanted = int.from_bytes(digest, "little") if np.isnan(number) else number_hashes(np.array([number]))[0]
        assert each == wanted
