"""What follows from the files is made again: pages, schema and counts, even after everything was sealed anew."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.test_commands import crypsis
from crypsis.masking import Microaggregation
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.privacy import KAnonymity
from crypsis.release import MeasuredLimit, ReleaseDescription, publish, verify
from crypsis.release.manifest import digests, seal, sha256
from crypsis.release.published import read_published
from crypsis.release.verification import foreign_public
from crypsis.report import external_html
from crypsis.table.attribute import Role
from crypsis.table.example import example
from crypsis.table.table import Table
from waiving import waiving


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    original = example(120, seed=1)
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(0))
    description = ReleaseDescription("Test", "Microaggregation in groups of five.", "aggregation", {"k": 5})
    folder = tmp_path_factory.mktemp("released") / "release"
    asked, reasons = [KAnonymity(k=5)], waiving("income")
    return publish(masked, folder, models=asked, original=original, description=description, waivers=reasons)


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bundle, tmp_path / "copy")


def reseal(folder: Path) -> None:
    """What a careful forger does: every digest and seal made to fit."""
    for part in ("public", "internal"):
        path = folder / part / "manifest.json"
        if not path.is_file():
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
        content["files"] = digests(folder / part)
        if part == "internal":
            content["public"] = sha256(folder / "public" / "manifest.json")
        content["seal"] = seal(content)
        path.write_text(json.dumps(content), encoding="utf-8")


def edited(name: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / name
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    return edit


def page(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return edit


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (page("public/report.html", "records released", "people released"), "public/report.html differs from"),
        (page("internal/report.html", "Records hardest", "Records easiest"), "internal/report.html differs from"),
        (edited("public/report.json", lambda c: c.update(rows=7)), "counts other records"),
        (edited("public/report.json", lambda c: c["columns"][0].update(distinct=1)), "counts other records"),
        (edited("public/report.json", lambda c: c.update(guarantees=[])), "does not state the guarantee"),
        (edited("public/schema.json", lambda c: c.update(rows=7)), "schema.json does not describe"),
        (edited("public/manifest.json", lambda c: c["requirements"][0]["verdict"].update(attained=50)), "differently"),
    ],
)
def test_a_forger_who_seals_everything_anew_is_still_found(
    copy: Path, forge: Callable[[Path], None], words: str
) -> None:
    forge(copy)
    reseal(copy)
    problems = verify(copy).problems
    assert any(words in problem for problem in problems), problems


def rendered(folder: Path) -> None:
    """The forger makes the pages fit too."""
    facts = json.loads((folder / "public" / "report.json").read_text(encoding="utf-8"))
    (folder / "public" / "report.html").write_text(external_html(facts), encoding="utf-8")


def both(*changes: Callable[[Path], None]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


def emptied(folder: Path) -> None:
    """No demand is left, and neither page nor report says one."""
    edited("public/manifest.json", lambda c: c.update(requirements=[]))(folder)
    edited("public/report.json", lambda c: c.update(guarantees=[]))(folder)


def other_data(folder: Path) -> None:
    """Everybody gets the same income, and the fingerprint is made to fit."""
    path = folder / "public" / "data.csv"
    lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    place = lines[0].index("income")
    for line in lines[1:]:
        line[place] = "123456"
    path.write_text("\n".join(map(",".join, lines)) + "\n", encoding="utf-8")
    schema = json.loads((folder / "public" / "schema.json").read_text(encoding="utf-8"))
    fingerprint = read_published(folder / "public", schema).fingerprint()
    edited("public/manifest.json", lambda c: c.update(fingerprint=fingerprint))(folder)


INVENTED = "every record is anonymous for ever"


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (emptied, "demands nothing of the data"),
        (edited("public/report.json", lambda c: c["guarantees"].append(INVENTED)), "states a guarantee that neither"),
        (edited("public/report.json", lambda c: c.update(suppressed=0, losses=[])), "are not of one release"),
        (edited("public/report.json", lambda c: c["columns"][0].update(role="other")), "other names or roles"),
        (
            edited("public/manifest.json", lambda c: c.update(limited_risk=["a neighbour"])),
            "does not state the guarantee: the limit set on the people found is kept, measured for a neighbour",
        ),
        (edited("public/manifest.json", lambda c: c.update(limited_risk=True)), "missing or of another type"),
        (
            edited("public/manifest.json", lambda c: c.update(family="perturbation")),
            "requires class sizes of a perturbed",
        ),
        (
            both(
                edited("public/manifest.json", lambda c: c.update(crypsis="0.0.1")),
                edited("public/report.json", lambda c: c.update(version="0.0.1")),
                page("public/report.html", "<h2>What holds</h2>", f"<h2>What holds</h2><p>{INVENTED}</p>"),
            ),
            "was written by Crypsis 0.0.1 and this version",
        ),
        (edited("public/manifest.json", lambda c: c["requirements"][0].pop("settings")), "missing or of another type"),
        (edited("public/manifest.json", lambda c: c["requirements"][0].update(model="none")), "cannot be judged"),
        (edited("public/schema.json", lambda c: c.update(file="../internal/report.json")), "not in its folder"),
    ],
)
def test_a_forged_public_folder_is_found_though_everything_was_sealed_anew(
    copy: Path, forge: Callable[[Path], None], words: str
) -> None:
    shutil.rmtree(copy / "internal")
    forge(copy)
    if "0.0.1" not in words:
        rendered(copy)
    reseal(copy)
    problems = verify(copy / "public").problems
    assert any(words in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (edited("public/report.json", lambda c: c.update(method="Nothing was done.")), "does not follow from internal"),
        (edited("public/report.json", lambda c: c["columns"][0].update(treatment="hidden")), "does not follow from"),
        (edited("public/manifest.json", lambda c: c.update(suppressed=9)), "manifests differ from"),
        (edited("internal/manifest.json", lambda c: c.update(risks=[])), "manifests differ from"),
        (edited("internal/manifest.json", lambda c: c.update(findings=[])), "manifests differ from"),
        (edited("internal/report.json", lambda c: c["verdicts"][0].update(attained=50)), "manifests differ from"),
        (other_data, "counts other records, columns or values"),
    ],
)
def test_the_internal_part_and_the_public_one_must_agree(copy: Path, forge: Callable[[Path], None], words: str) -> None:
    forge(copy)
    rendered(copy)
    reseal(copy)
    problems = verify(copy).problems
    assert any(words in problem for problem in problems), problems


def test_a_limit_that_is_not_kept_is_found(tmp_path: Path) -> None:
    original = example(120, seed=1)
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(0))
    limits = [MeasuredLimit(RecordLinkage(), 90.0)]
    publish(masked, tmp_path / "out", models=[], original=original, limits=limits, waivers=waiving("income"))
    assert verify(tmp_path / "out").sound
    change = edited("internal/report.json", lambda c: c["demands"][0].update(at_most=0.001))
    also = edited("internal/manifest.json", lambda c: c["limits"][0].update(at_most=0.001))
    both(change, also)(tmp_path / "out")
    reseal(tmp_path / "out")
    problems = verify(tmp_path / "out").problems
    assert "internal/report.json: the limit on record-linkage is not kept" in problems


def test_a_limit_that_is_met_up_to_the_rounding_of_a_sum_is_kept(tmp_path: Path) -> None:
    """Thirty records in tens: 10 % are found, and a limit may lie below that by what a sum of thirty tenths is off."""
    records = 2 * np.arange(30.0)
    original = Table.from_columns({"a": records}).with_roles({"a": Role.QUASI_IDENTIFIER})
    for limit in np.linspace(10.0 - 1e-12, 10.0, 5):
        masked = original.with_columns({"a": 9.0 + 20.0 * (records // 20)})
        publish(
            masked, tmp_path / f"{limit!r}", models=[], original=original,
            limits=[MeasuredLimit(RecordLinkage(), float(limit))],
        )  # fmt: skip
        assert verify(tmp_path / f"{limit!r}").sound


@pytest.mark.parametrize("name", ["public/data.csv", "public/manifest.json", "internal/report.json", "internal"])
def test_a_link_out_of_the_bundle_is_refused_before_anything_is_read(name: str, copy: Path, tmp_path: Path) -> None:
    (copy / name).rename(tmp_path / "outside")
    (copy / name).symlink_to(tmp_path / "outside")
    found = verify(copy)
    assert len(found.problems) == 1
    assert "link" in found.problems[0]
    assert name in found.problems[0]
    assert not found.verdicts


@pytest.mark.parametrize("name", ["notes.txt", "public/more/notes.txt", "internal/notes.txt", ".hidden"])
def test_what_no_manifest_lists_does_not_belong_to_a_release(name: str, copy: Path) -> None:
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("beside")
    assert not verify(copy).sound


def test_a_manifest_that_lists_files_elsewhere_is_refused(copy: Path) -> None:
    change = edited("public/manifest.json", lambda c: c["files"].update({"../internal/report.json": "0"}))
    change(copy)
    assert "public/manifest.json lists files outside its folder" in verify(copy).problems


def test_what_nobody_signed_is_called_unsigned(copy: Path) -> None:
    assert any("unsigned: anybody who can write the folder can change" in note for note in verify(copy).notes)


def test_sealing_anew_without_a_change_is_sound(copy: Path) -> None:
    reseal(copy)
    assert verify(copy).problems == ()


def test_what_could_not_be_checked_is_said(copy: Path) -> None:
    assert any("internal part" in note for note in verify(copy / "public").notes)


def test_what_is_missing_from_a_release_of_this_format_is_a_problem(copy: Path) -> None:
    edited("public/manifest.json", lambda content: content.pop("assumed"))(copy)
    reseal(copy)
    assert verify(copy).word == "NOT sound"


def planted(folder: Path) -> None:
    (folder / "public" / "raw.csv").write_text("name,illness\nAnn,flu\n", encoding="utf-8")


def planted_inside(folder: Path) -> None:
    (folder / "internal" / "notes.txt").write_text("Ann", encoding="utf-8")


def second_data(folder: Path) -> None:
    shutil.copy(folder / "public" / "data.csv", folder / "public" / "data.parquet")


NOTE = {"note": "Ann has the flu"}


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (planted, "public/raw.csv is no file of a release"),
        (second_data, "public/data.parquet is no file of a release"),
        (planted_inside, "internal/notes.txt is no file of a release"),
        (edited("public/manifest.json", lambda c: c.update(NOTE)), "public/manifest.json holds what no release has"),
        (edited("public/manifest.json", lambda c: c.update(crypsis="Ann")), "that no release has in: crypsis"),
        (edited("public/manifest.json", lambda c: c.update(order="Ann")), "that no release has in: order"),
        (edited("public/manifest.json", lambda c: c.update(family="Ann")), "that no release has in: family"),
        (edited("public/manifest.json", lambda c: c.update(suppressed="Ann")), "that no release has in: suppressed"),
        (edited("public/manifest.json", lambda c: c.update(assumed=["Ann"])), "that no release has in: assumed"),
        (edited("public/manifest.json", lambda c: c.update(limited_risk="Ann")), "release has in: limited_risk"),
        (edited("public/manifest.json", lambda c: c.update(rulebook={"title": "", **NOTE})), "rulebook holds"),
        (edited("public/manifest.json", lambda c: c.update(requirements=5)), "a part of it is of another type"),
        (edited("public/manifest.json", lambda c: c.update(assumed=[["Ann"]])), "a part of it is of another type"),
        (edited("public/manifest.json", lambda c: c["requirements"][0].update(NOTE)), "requirements holds"),
        (edited("public/manifest.json", lambda c: c["requirements"][0]["verdict"].update(NOTE)), "requirements holds"),
        (edited("public/manifest.json", lambda c: c["losses"][0].update(NOTE)), "losses holds"),
        (edited("public/manifest.json", lambda c: c.update(counted={"quasi": [], **NOTE})), "counted holds"),
        (edited("public/report.json", lambda c: c.update(NOTE)), "public/report.json holds"),
        (edited("public/report.json", lambda c: c["columns"][0].update(NOTE)), "public/report.json: columns holds"),
        (edited("public/report.json", lambda c: c["losses"][0].update(NOTE)), "public/report.json: losses holds"),
        (edited("internal/manifest.json", lambda c: c.update(NOTE)), "internal/manifest.json holds"),
        (edited("internal/report.json", lambda c: c.update(NOTE)), "internal/report.json holds"),
    ],
)  # fmt: skip
def test_nothing_else_is_published_in_a_release(copy: Path, forge: Callable[[Path], None], words: str) -> None:
    """Files and entries that Crypsis never writes, listed and sealed anew."""
    forge(copy)
    reseal(copy)
    found = verify(copy)
    assert not found.sound
    assert any(words in problem for problem in found.problems), found.problems


def test_what_a_changed_release_says_is_not_repeated(copy: Path) -> None:
    edited("public/manifest.json", lambda c: c.update(NOTE))(copy)
    reseal(copy)
    told = crypsis("verify", copy)
    assert told.returncode == 1
    assert "Ann" not in told.stdout + told.stderr


def test_a_manifest_that_was_not_sealed_anew_is_found(copy: Path) -> None:
    """Of the public part alone, where nothing else speaks against it."""
    shutil.rmtree(copy / "internal")
    assert verify(copy).sound
    edited("public/manifest.json", lambda c: c.update(seal="0" * 64))(copy)
    assert verify(copy).problems == ("public/manifest.json was changed after it was sealed",)


def test_files_of_a_counted_release_are_numbered_and_have_digests() -> None:
    files = dict.fromkeys(("schema.json", "report.json", "report.html", "data-000.parquet"), "0" * 64)
    manifest = {"counted": {"quasi": [], "confidential": []}, "files": files}
    assert foreign_public(manifest, {}, {}) == []
    raw = {**files, "data-raw.parquet": "0" * 64}
    assert foreign_public(manifest | {"files": raw}, {}, {}) == ["public/data-raw.parquet is no file of a release"]
    told = {**files, "report.html": "Ann has the flu"}
    (problem,) = foreign_public(manifest | {"files": told}, {}, {})
    assert problem == "public/manifest.json has a value that no release has in: files"
