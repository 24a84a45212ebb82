"""`crypsis sensitivity`, `experiment` and `data` as a person meets them."""

from __future__ import annotations

import functools
import http.server
import io
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from crypsis.cli import experiment, main, sensitivity
from crypsis.errors import PlanError, TableError
from crypsis.table.reference import SOURCES, fetch, reference_file
from reference import reference


def crypsis(*arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["crypsis", *map(str, arguments)]):
        try:
            main()
            code = 0
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 0
    return code, out.getvalue(), err.getvalue()


# -- sensitivity --


def test_a_study_is_stopped_continued_and_told(tmp_path: Path) -> None:
    command = (
        "sensitivity", "genetic", "uniform:12x2", "-v", "mutation_rate=0,0.1,1", "-v", "population=4:8:4",
        "-s", "epochs=30", "--replicates", 2, "--out", tmp_path / "study",
    )  # fmt: skip
    code, out, _ = crypsis(*command, "--most", 5)
    assert code == 3
    assert "5 of 12 trials done" in out
    code, out, _ = crypsis(*command)
    assert code == 0
    assert "steps 1 and 2: SSE" in out
    assert "steps 3 and 4: convergence epoch" in out
    assert "best by Scheffé" in out
    told = json.loads((tmp_path / "study" / "analysis.json").read_text())
    assert told["stages"][0]["factors"]["mutation_rate"]["df"] == 2
    assert (tmp_path / "study" / "sensitivity.svg").stat().st_size < 100_000
    code, out, _ = crypsis(*command, "--json")
    assert json.loads(out) == told


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("genetc", "uniform:9x2", "-v", "epochs=1,2"), "no partitioner or search"),
        (("genetic", "uniform:9", "-v", "epochs=1,2"), "uniform:RECORDSxATTRIBUTES"),
        (("genetic", "uniform:9x2", "-v", "epochs=1:2:0"), "FIRST:LAST:STEP"),
        (("genetic", "uniform:9x2", "-v", "mutation_rate=0,2"), "mutation_rate"),
    ],
)
def test_a_study_that_cannot_be_is_refused(arguments: tuple[str, ...], word: str, tmp_path: Path) -> None:
    code, _, err = crypsis("sensitivity", *arguments, "--out", tmp_path / "x")
    assert code == 2
    assert word in err


def test_levels_are_read_as_lists_and_steps() -> None:
    assert sensitivity.levels(["rate=0:1:0.5", "n=10:30:10", "how=a,b", "on=true,false"]) == {
        "rate": [0.0, 0.5, 1.0],
        "n": [10, 20, 30],
        "how": ["a", "b"],
        "on": [True, False],
    }


# -- experiments --


def test_experiments_are_listed_and_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert crypsis("experiment", "list")[1].split() == [
        "ga-2006",
        "gomm-2014",
        "hybrid-2007",
        "masking-2012",
        "pbg-2009",
    ]
    code, _, err = crypsis("experiment", "gomm-2041")
    assert code == 2
    assert "did you mean 'gomm-2014'" in err


def test_no_experiment_of_the_working_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package finds scripts below the working folder, and in a folder beside its own; it runs neither."""
    ran = tmp_path / "ran"
    for folder in (tmp_path / "experiments" / "ga-2006", tmp_path / "lib" / "experiments" / "ga-2006"):
        folder.mkdir(parents=True)
        (folder / "reproduce.py").write_text(f"open({str(ran)!r}, 'w')\ndef main(arguments): pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("crypsis.__file__", str(tmp_path / "lib" / "site" / "crypsis" / "__init__.py"))
    code, _, err = crypsis("experiment", "ga-2006")
    assert (code, ran.exists()) == (2, False)
    assert "without its experiments" in err
    with pytest.raises(PlanError, match="without its experiments"):
        experiment.experiments()


def test_an_experiment_is_run_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    reference("census.csv")
    reference("water_treatment.csv")
    code, out, _ = crypsis("experiment", "gomm-2014", "--quick", "--out", tmp_path)
    assert code == 0
    assert "gomm-2014:" in out
    assert (tmp_path / "verdict.md").is_file()


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
    code, out, _ = crypsis("data", "fetch", name, "--to", tmp_path / "data", "--from", f"{address}/raw")
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
    with pytest.raises(TableError, match="crypsis data fetch water"):
        reference_file("water_treatment.csv")
    code, out, _ = crypsis("data", "list")
    assert code == 0
    assert all(source.url in out for source in SOURCES.values())
