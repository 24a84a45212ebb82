"""The scripts `sensitivity.py`, `data.py` and `reproduce.py` of `experiments/` as a person meets them."""

from __future__ import annotations

import functools
import http.server
import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import data
import pytest
import sensitivity
from data import SOURCES, fetch, reference_file

from crypsis.cli import main
from crypsis.errors import TableError
from reference import reference

ROOT = Path(__file__).resolve().parents[2] / "experiments"


def call(script: ModuleType, *arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", [script.__name__, *map(str, arguments)]):
        try:
            main(script.app)
            code = 0
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 0
    return code, out.getvalue(), err.getvalue()


# -- sensitivity --


def test_a_study_is_stopped_continued_and_told(tmp_path: Path) -> None:
    command = (
        "genetic", "uniform:12x2", "-v", "mutation_rate=0,0.1,1", "-v", "population=4:8:4",
        "-s", "epochs=30", "--replicates", 2, "--out", tmp_path / "study",
    )  # fmt: skip
    code, out, _ = call(sensitivity, *command, "--most", 5)
    assert code == 3
    assert "5 of 12 trials done" in out
    code, out, _ = call(sensitivity, *command)
    assert code == 0
    assert "steps 1 and 2: SSE" in out
    assert "steps 3 and 4: convergence epoch" in out
    assert "best by Scheffé" in out
    told = json.loads((tmp_path / "study" / "analysis.json").read_text())
    assert told["stages"][0]["factors"]["mutation_rate"]["df"] == 2
    assert (tmp_path / "study" / "sensitivity.svg").stat().st_size < 100_000
    code, out, _ = call(sensitivity, *command, "--json")
    assert json.loads(out) == told


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("genetc", "uniform:9x2", "-v", "epochs=1,2"), "no partitioner or search"),
        (("genetic", "uniform:9", "-v", "epochs=1,2"), "uniform:RECORDSxATTRIBUTES"),
        (("genetic", "uniform:9x2", "-v", "epochs=1:2:0"), "FIRST:LAST:STEP"),
        (("genetic", "uniform:9x2", "-v", "epochs"), "SETTING=VALUES"),
        (("genetic", "uniform:9x2", "-v", "mutation_rate=0,2"), "mutation_rate"),
    ],
)
def test_a_study_that_cannot_be_is_refused(arguments: tuple[str, ...], word: str, tmp_path: Path) -> None:
    code, _, err = call(sensitivity, *arguments, "--out", tmp_path / "x")
    assert code == 2
    assert word in err


def test_levels_are_read_as_lists_and_steps() -> None:
    assert sensitivity.levels(["rate=0:1:0.5", "n=10:30:10", "how=a,b", "on=true,false"]) == {
        "rate": [0.0, 0.5, 1.0],
        "n": [10, 20, 30],
        "how": ["a", "b"],
        "on": [True, False],
    }


# -- reproduce --


def test_a_paper_is_reproduced_by_one_command(tmp_path: Path) -> None:
    script = ROOT / "gomm-2014" / "reproduce.py"
    answer = subprocess.run(
        [sys.executable, script, "--help"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert "--quick" in answer.stdout


def test_no_script_of_the_working_folder_is_run(tmp_path: Path) -> None:
    """Beside a file that has the name of a module of theirs, scripts use their own."""
    for name in ("data", "trials", "verdicts"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n")
    for script in ("data.py", "sensitivity.py", "ga-2006/reproduce.py"):
        subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, cwd=tmp_path, check=True)
    assert not (tmp_path / "ran").exists()


# -- data --

RAW = {
    "water": ("water_treatment.csv", lambda rows: "\n".join("D-" + ",".join(c or "?" for c in row) for row in rows)),
    "german": ("german_credit.csv", lambda rows: "\n".join(" ".join(row) + " " for row in rows)),
    "flare": ("solar_flare.csv", lambda rows: "1066 records\n" + "\n".join(" ".join(row) for row in rows)),
    "adult": ("adult.csv", lambda rows: "1, ?, 2\n" + "\n".join(", ".join(row) for row in rows) + "\n\n"),
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server on loopback that serves a folder."""
    folder = tmp_path / "served"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}", folder
        running.shutdown()
        thread.join()


@pytest.mark.parametrize("name", list(RAW))
def test_data_is_fetched_shaped_and_checked(name: str, server: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = server
    file, rebuild = RAW[name]
    known = reference(file).read_bytes()
    rows = [line.split(",") for line in known.decode().splitlines()[1:]]
    (folder / "raw").write_text(rebuild(rows), encoding="utf-8")
    code, out, _ = call(data, "fetch", name, "--to", tmp_path / "data", "--from", f"{address}/raw")
    assert code == 0
    assert "licence" in out
    assert (tmp_path / "data" / file).read_bytes() == known
    with pytest.raises(TableError, match="already exists"):
        fetch(name, tmp_path / "data", f"{address}/raw")


def test_other_content_is_not_written(server: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = server
    (folder / "raw").write_text("A11 6 A34\n", encoding="utf-8")
    with pytest.raises(TableError, match="nothing is written"):
        fetch("german", tmp_path / "data", f"{address}/raw")
    assert not (tmp_path / "data").exists()
    with pytest.raises(TableError, match="cannot be fetched"):
        fetch("german", tmp_path / "data", f"{address}/nothing")
    with pytest.raises(TableError, match="only http"):
        fetch("german", tmp_path / "data", "file:///etc/hostname")


def test_what_cannot_be_downloaded_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TableError, match="sdcMicro"):
        fetch("census", tmp_path)
    with pytest.raises(TableError, match="did you mean 'water'"):
        fetch("watr", tmp_path)
    monkeypatch.setenv("CRYPSIS_DATA", str(tmp_path))
    with pytest.raises(TableError, match=r"python experiments/data\.py fetch water"):
        reference_file("water_treatment.csv")
    code, out, _ = call(data, "list")
    assert code == 0
    assert all(source.url in out for source in SOURCES.values())
