"""A release is whole and true, or it is not there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from crypsis.errors import CrypsisError, PlanError, ReleaseRefused
from crypsis.masking import Microaggregation
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.release import ReleaseDescription, publish, verify
from crypsis.table.example import example
from crypsis.table.table import Table
from waiving import waiving


@pytest.fixture(scope="module")
def original() -> Table:
    return example(150, seed=1)


@pytest.fixture(scope="module")
def masked(original: Table) -> Table:
    return Microaggregation(k=5).mask(original, np.random.default_rng(0))


@pytest.fixture(scope="module")
def bundle(original: Table, masked: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released") / "release"
    description = ReleaseDescription("Test", "Microaggregation in groups of five.", "aggregation", {"k": 5})
    asked, reasons = [KAnonymity(k=5)], waiving("income")
    return publish(masked, folder, models=asked, original=original, description=description, waivers=reasons)


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bundle, tmp_path / "copy")


def test_a_release_is_sound_and_complete(bundle: Path) -> None:
    found = verify(bundle)
    assert found.sound, found.problems
    assert found.verdicts[0].attained >= 5
    names = {str(path.relative_to(bundle)) for path in bundle.rglob("*") if path.is_file()}
    assert names == {
        "public/data.csv",
        "public/schema.json",
        "public/codebook.html",
        "public/codebook.json",
        "public/manifest.json",
        "public/report.html",
        "public/report.json",
        "internal/report.html",
        "internal/report.json",
        "internal/manifest.json",
    }
    assert verify(bundle / "public").sound, "the public part can be verified by whoever receives it"


def test_no_identifier_is_published_and_rows_are_shuffled(bundle: Path, original: Table, masked: Table) -> None:
    header = (bundle / "public" / "data.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert not set(original.names_by_role("identifier")) & set(header)  # type: ignore[arg-type]
    name = "diagnosis"
    labels = [masked.labels(name)[code] if code >= 0 else "" for code in masked.column(name)]
    written = [
        line.split(",")[header.index(name)] for line in (bundle / "public" / "data.csv").read_text().splitlines()[1:]
    ]
    assert sorted(written) == sorted(labels)
    assert written != labels


def test_internal_files_are_for_their_owner_only(bundle: Path) -> None:
    assert (bundle / "internal").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (bundle / "internal").iterdir())


def test_a_file_that_breaks_its_model_is_refused_with_figures(original: Table, tmp_path: Path) -> None:
    with pytest.raises(
        ReleaseRefused,
        match=r"k-anonymity requires at least 5 over [\w, ]+, the file attains 1, and \d+ of 150 records",
    ):
        publish(original, tmp_path / "out", models=[KAnonymity(k=5)])
    assert list(tmp_path.iterdir()) == []


def test_every_broken_model_is_named(masked: Table, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match=r"k-anonymity .*; l-diversity"):
        publish(masked, tmp_path / "out", models=[KAnonymity(k=50), LDiversity(l=30)])


def test_what_cannot_be_released(masked: Table, original: Table, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(CrypsisError, match="exist"):
        publish(masked, tmp_path / "there", models=[KAnonymity(k=5)])
    with pytest.raises(PlanError, match="at least one privacy model"):
        publish(masked, tmp_path / "out", models=[])
    with pytest.raises(ReleaseRefused, match="perturbed"):
        publish(
            masked, tmp_path / "out", models=[KAnonymity(k=5)], description=ReleaseDescription(family="perturbation")
        )
    with pytest.raises(PlanError, match="rows must correspond"):
        publish(masked, tmp_path / "out", models=[KAnonymity(k=5)], original=original.take(np.arange(10)))
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_suppressed_rows_and_rare_categories_stay_home(original: Table, format: str, tmp_path: Path) -> None:
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(0))
    name = "diagnosis"
    codes = masked.column(name)
    rare = int(
        np.argmin(
            np.where(
                np.bincount(codes[codes >= 0], minlength=len(masked.labels(name))) > 0,
                np.bincount(codes[codes >= 0], minlength=len(masked.labels(name))),
                10**6,
            )
        )
    )
    hidden = masked.labels(name)[rare]
    gone = masked.without(codes == rare)
    folder = publish(
        gone,
        tmp_path / "out",
        models=[KAnonymity(k=2)],
        format=format,  # type: ignore[arg-type]
        waivers=waiving("income"),
    )
    assert verify(folder).sound
    for path in (folder / "public").iterdir():
        assert hidden.encode() not in path.read_bytes(), path.name


def change_a_cell(folder: Path) -> None:
    path = folder / "public" / "data.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[2]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def edit(name: str, old: str, new: str):  # type: ignore[no-untyped-def]
    def change(folder: Path) -> None:
        path = folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("tamper", "named"),
    [
        (change_a_cell, "public/data.csv"),
        (edit("public/manifest.json", '"attained": 5', '"attained": 9'), "public/manifest.json"),
        (edit("public/schema.json", '"role": "quasi"', '"role": "other"'), "public/schema.json"),
        (edit("public/report.html", "records released", "records shown"), "public/report.html"),
        (edit("internal/report.html", "Internal", "Public"), "internal/report.html"),
        (lambda folder: (folder / "public" / "extra.csv").write_text("x"), "public/extra.csv"),
        (lambda folder: (folder / "public" / "report.json").unlink(), "public/report.json"),
    ],
)
def test_tampering_is_found_and_named(copy: Path, tamper, named: str) -> None:  # type: ignore[no-untyped-def]
    tamper(copy)
    found = verify(copy)
    assert not found.sound
    assert any(named in problem for problem in found.problems), found.problems


def test_a_resealed_manifest_cannot_hide_a_broken_guarantee(copy: Path) -> None:
    from crypsis.release.bundle import seal, sha256

    change_a_cell(copy)
    path = copy / "public" / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["files"]["data.csv"] = sha256(copy / "public" / "data.csv")
    content["seal"] = seal(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    problems = verify(copy).problems
    assert any("not the table that was sealed" in problem for problem in problems)


@pytest.mark.parametrize("other", ["99", "4", "5.0", "true", '"5"', "null"])
def test_a_manifest_of_another_format_is_refused_in_a_sentence(other: str, copy: Path) -> None:
    edit("public/manifest.json", '"format": 5', f'"format": {other}')(copy)
    with pytest.raises(CrypsisError, match=r"its format is .+ reads 5 alone; verify it with the version"):
        verify(copy)


def test_a_folder_that_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(CrypsisError, match="not a release"):
        verify(tmp_path)
    packed = tmp_path / "release.zip"
    packed.write_bytes(b"PK")
    with pytest.raises(CrypsisError, match="a ZIP; unpack it and give the folder"):
        verify(packed)


KILLED = """
import sys
import numpy as np
from crypsis.masking import Microaggregation
from crypsis.privacy import KAnonymity
from crypsis.release import publish
from crypsis.table.example import example
table = example(400, seed=1)
masked = Microaggregation(k=5).mask(table, np.random.default_rng(0))
print("ready", flush=True)
reasons = {"singling-out:income": "known to nobody outside"}
publish(masked, sys.argv[1], models=[KAnonymity(k=5)], original=table, waivers=reasons)
print("done", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
def test_killed_at_any_moment_there_is_no_release_or_a_whole_one(delay: float, tmp_path: Path) -> None:
    target = tmp_path / "release"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(target)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not target.exists() or verify(target).sound
