"""Signatures: who released a bundle, and what is said of one that nobody signed."""

from __future__ import annotations

import builtins
import json
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import crypsis
from crypsis.cli.app import app
from crypsis.errors import PlanError, TableError
from crypsis.masking import Microaggregation
from crypsis.privacy import KAnonymity
from crypsis.release import publish, verify
from crypsis.release.manifest import digests, seal, sha256
from crypsis.release.signing import new_keys
from crypsis.table.example import example
from run.runs import begun, finished, folder_with
from waiving import waiving


def released(folder: Path, sign: Path | None) -> Path:
    original = example(60, seed=1)
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(0))
    return publish(masked, folder, models=[KAnonymity(k=5)], original=original, waivers=waiving("income"), sign=sign)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return new_keys(tmp_path_factory.mktemp("keys") / "office.key")[:2]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, keys: tuple[Path, Path]) -> Path:
    return released(tmp_path_factory.mktemp("signed") / "release", keys[0])


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundle, tmp_path / "copy"))


def reseal(folder: Path) -> None:
    """Every digest and seal made to fit, as far as that goes without the private key."""
    for part in ("public", "internal"):
        path = folder / part / "manifest.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        content["files"] = {name: digest for name, digest in digests(folder / part).items() if name[:8] != "manifest"}
        if part == "internal":
            content["public"] = sha256(folder / "public" / "manifest.json")
        content["seal"] = seal(content)
        path.write_text(json.dumps(content), encoding="utf-8")


def test_a_signed_release_is_trusted_by_the_right_key(bundle: Path, keys: tuple[Path, Path]) -> None:
    for folder in (bundle, bundle / "public"):
        found = verify(folder, key=keys[1])
        assert (found.problems, found.signature) == ((), "trusted")
        assert not any("signed" in note for note in found.notes)
    assert f"Signed with the Ed25519 key <code>{found.signed_by}</code>" in (bundle / "public/report.html").read_text()


def test_a_signed_release_without_a_key_names_the_key_to_compare(bundle: Path) -> None:
    found = verify(bundle)
    assert (found.problems, found.signature) == ((), "signed")
    assert any(found.signed_by in note and "give it with key=" in note for note in found.notes)


def test_another_key_is_refused(bundle: Path, tmp_path: Path) -> None:
    other = crypsis.new_keys(tmp_path / "other.key")[1]
    found = crypsis.verify(bundle, key=other)
    assert any("and not with the key that was given" in problem for problem in found.problems)


def test_unsigned_is_said_to_be_unsigned(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    folder = released(tmp_path / "out", None)
    assert verify(folder).signature == "unsigned"
    assert any(note.startswith("unsigned: ") for note in verify(folder).notes)
    assert "Not signed: anybody who can write this folder" in (folder / "public/report.html").read_text(
        encoding="utf-8"
    )
    assert any("is not signed" in problem for problem in verify(folder, key=keys[1]).problems)
    (folder / "public" / "manifest.sig").write_bytes(bytes(64))
    assert any("manifest.sig does not belong" in problem for problem in verify(folder).problems)


@pytest.mark.parametrize("given", [True, False])
def test_what_was_changed_after_signing_is_found_though_everything_was_sealed_anew(
    given: bool, copy: Path, keys: tuple[Path, Path]
) -> None:
    reseal(copy)
    problems = verify(copy, key=keys[1] if given else None).problems
    assert (
        "public/manifest.json: its signature is missing or does not fit; it was changed after it was signed" in problems
    )
    assert any(problem.startswith("internal/manifest.json: its signature") for problem in problems)


@pytest.mark.parametrize("part", ["public", "internal"])
def test_a_signature_that_was_left_out_or_damaged_is_found(part: str, copy: Path) -> None:
    path = copy / part / "manifest.sig"
    content = bytearray(path.read_bytes())
    content[3] ^= 1
    path.write_bytes(content)
    assert any(f"{part}/manifest.json: its signature" in problem for problem in verify(copy).problems)
    path.unlink()
    assert any(f"{part}/manifest.json: its signature" in problem for problem in verify(copy).problems)


def test_a_forger_who_signs_with_another_key_is_found_by_the_key(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    forged = released(tmp_path / "forged", new_keys(tmp_path / "forger.key")[0])
    assert verify(forged).sound
    assert not verify(forged, key=keys[1]).sound


def test_the_signature_can_be_checked_without_crypsis(bundle: Path, keys: tuple[Path, Path]) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    public = bundle / "public"
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", keys[1], "-rawin"]
    files = ["-in", public / "manifest.json", "-sigfile", public / "manifest.sig"]
    answer = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert "Verified Successfully" in answer.stdout


def test_keys_are_private_and_never_overwritten(tmp_path: Path) -> None:
    private, public, _ = new_keys(tmp_path / "a.key")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert public == tmp_path / "a.key.pub"
    with pytest.raises(PlanError, match="never overwritten"):
        new_keys(private)
    public.unlink()
    with pytest.raises(TableError, match="never overwritten"):
        new_keys(private)


def test_keys_that_are_none_are_refused_in_a_sentence(tmp_path: Path, bundle: Path, keys: tuple[Path, Path]) -> None:
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("no key")
    nonsense.chmod(0o600)
    open_to_all = Path(shutil.copy(keys[0], tmp_path / "open.key"))
    open_to_all.chmod(0o644)
    for path, words in [
        (nonsense, "is no Ed25519 private key"), (open_to_all, "chmod 600"), (tmp_path / "none", "cannot be read"),
    ]:  # fmt: skip
        with pytest.raises(PlanError, match=words):
            released(tmp_path / "out", path)
    assert not (tmp_path / "out").exists()
    for path, words in [(nonsense, "is no Ed25519 public key"), (keys[0], "is a private key")]:
        with pytest.raises(PlanError, match=words):
            verify(bundle, key=path)


def test_without_the_package_a_sentence_names_the_extra(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any, **more: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(PlanError, match=r'pip install "crypsis\[sign\]"'):
        new_keys("x.key")
    found = verify(bundle)
    assert (found.problems, found.signature) == ((), "unchecked")
    assert any("the signature was not checked" in note for note in found.notes)


def test_the_command_line_signs_and_verifies(tmp_path: Path) -> None:
    def call(*words: object) -> Any:
        return CliRunner().invoke(app, [str(word) for word in words])

    assert call("keys", "new", "--to", tmp_path / "k.key").exit_code == 0
    run = tmp_path / "run"
    finished(begun(folder_with(tmp_path / "job"), run, budget="1 generations")).close()
    answer = call("release", run, "--out", tmp_path / "out", "--sign", tmp_path / "k.key")
    assert answer.exit_code == 0, answer.output
    assert "signed with the key" in answer.output
    trusted = call("verify", tmp_path / "out", "--key", tmp_path / "k.key.pub")
    assert (trusted.exit_code, trusted.output.count("files checked; signed with the key given")) == (0, 1)
    call("keys", "new", "--to", tmp_path / "other.key")
    assert call("verify", tmp_path / "out", "--key", tmp_path / "other.key.pub").exit_code == 1
