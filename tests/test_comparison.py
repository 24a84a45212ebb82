"""The page of peers is made from one run, says losses as plainly as wins, and the command names what is absent."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page() -> ModuleType:
    return load(ROOT / "docs" / "comparison.py")


@pytest.fixture(scope="module")
def peers() -> Any:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield load(ROOT / "benchmarks" / "peers.py")
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "benchmarks/results/peers.json").read_text(encoding="utf-8"))
    return found


def test_the_page_is_what_the_kept_figures_make(page: ModuleType, measured: dict[str, Any]) -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(measured), "run python docs/comparison.py"


def test_a_loss_is_said_in_words(page: ModuleType, measured: dict[str, Any]) -> None:
    row = {**measured["rows"][0], "task": "a task", "peer": "a peer", "higher": False}
    lost = {**row, "time_ratio": 0.5, "time_ratios": [0.4, 0.6], "quality_ratio": 2.0}
    said = page.page({**measured, "rows": [lost]})
    assert "Of 1 tasks Crypsis needs less time in 0, more in 1." in said
    assert "loses less in 0, the same in 0, more in 1: a task (a peer)." in said
    assert "0.5 (0.4 to 0.6)" in said


def test_every_peer_was_run_or_is_said_to_be_absent(peers: ModuleType, measured: dict[str, Any]) -> None:
    run = {row["peer"].split()[0] for row in measured["rows"]}
    absent = {each["peer"] for each in measured["absent"]}
    assert run | absent == {task.peer.split()[0] for task in peers.TASKS}
    assert run <= set(measured["versions"])
    for each in measured["absent"]:
        assert each["why"]
        assert "apt-get install" in each["how"]


def test_each_side_of_a_task_was_measured_as_often_as_the_other(peers: ModuleType, measured: dict[str, Any]) -> None:
    rounds = {(task.what, task.peer, task.ours): task.rounds for task in peers.TASKS}
    for row in measured["rows"]:
        assert len(row["time_ratios"]) >= rounds[row["task"], row["peer"], row["ours"]], (
            "a run of fewer rounds was kept"
        )


def test_without_r_and_java_the_command_says_so(
    peers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert peers.find_sdcmicro({}) == "there is no Rscript"
    found = peers.Peers(tmp_path, {}, [peers.Absent("ARX", "there is no java", peers.HOW["ARX"])])
    assert not found.has("ARX")
    assert found.has("microagg1d wilber")


def test_groups_are_written_for_the_other_languages_as_they_are_judged(peers: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "adult.csv").write_text("sex,occupation\nMale,clerk\n", encoding="utf-8")
    peers.write_arx(tmp_path, {"sex": [["Male", "Female"], ["*", "*"]]})
    assert (tmp_path / "adult-arx.csv").read_text(encoding="utf-8") == "sex;occupation\nMale;clerk\n"
    assert (tmp_path / "hierarchy-sex.csv").read_text(encoding="utf-8") == "Male;*\nFemale;*\n"
