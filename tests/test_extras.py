"""The core works without the extras, and what needs one says which."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

import crypsis
from crypsis.charts import Chart
from crypsis.errors import ExtraMissing
from crypsis.extras import import_extra
from crypsis.run.front import Front
from crypsis.table.frames import to_pandas

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
MODULES = {"vl-convert-python": "vl_convert", "scikit-learn": "sklearn"}
STUDIO = {"starlette", "uvicorn"}
WITH_ANOTHER = {"pydantic_core", "llvmlite", "distributed", "msoffcrypto"}
ABSENT = (*sorted(STUDIO), "vl_convert", "pyarrow", "duckdb", "fastexcel", "pyreadstat", "dask", "cryptography")
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r}));"


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True)


def packages(lines: list[str]) -> set[str]:
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in lines}  # type: ignore[index]
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


def test_the_core_imports_the_core_alone() -> None:
    core, source = packages(PROJECT["dependencies"]) | WITH_ANOTHER, Path(crypsis.__file__).parent
    behind = [line for extra in ("large", "files", "database", "sign", "dask", "spark") for line in EXTRAS[extra]]
    for path in source.rglob("*.py"):
        allowed = core | packages(behind) | (STUDIO if path.is_relative_to(source / "studio") else set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            roots = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"crypsis"}
            assert roots <= allowed, f"{path.name} imports {roots - allowed}, which no core dependency brings"


def test_all_is_every_extra_for_a_person_at_a_desk() -> None:
    (named,) = re.findall(r"crypsis\[([\w,]+)\]", EXTRAS["all"][0])
    apart = {
        "all",
        "test",
        "check",
        "bench",
        "docs",
        "dask",
        "spark",
        "duckdb",
        "sklearn",
    }  # developers; clusters; core
    assert set(named.split(",")) == set(EXTRAS) - apart


def test_the_studio_names_its_extra_and_ends_with_2() -> None:
    done = python("sys.argv = ['crypsis', 'studio']; from crypsis.cli import program; program()")
    assert done.returncode == 2
    assert not done.stdout
    assert 'pip install "crypsis[studio]"' in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_pandas_frames_go_in_and_out_without_pyarrow() -> None:
    code = """
import numpy as np, pandas as pd, crypsis
frame = pd.DataFrame({
    "age": pd.Series([31, 32, None, 60, 61, 62], dtype="Int64"), "town": ["a", "b", None, "a", "b", "a"],
    "job": pd.Categorical(["x", "y", "x", "y", "x", "y"]), "born": pd.to_datetime(["2001-02-03"] * 6),
    "seen": pd.to_datetime(["2001-02-03"] * 6).tz_localize("UTC"), "wage": [1.5, 2.5, 3.5, 4.5, 5.5, None],
    "odd": [1, "a", 2.5, None, 3, 4],
})
table = crypsis.wrap(frame, quasi_identifiers=["wage"])
back = crypsis.to_frame(table)
print((back.dtypes == frame.dtypes).all(), back.drop(columns="odd").equals(frame.drop(columns="odd")))
"""
    done = python(code)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_a_polars_frame_becomes_what_polars_itself_makes_of_it() -> None:
    moments = pl.Series([datetime(2020, 1, 1, tzinfo=UTC), None])
    frame = pl.DataFrame(
        {
            "whole": [1, 2], "holes": [1, None], "float": [1.5, None], "text": ["a", None], "flag": [True, False],
            "maybe": [True, None], "day": [date(2020, 1, 1), None], "zone": moments.dt.convert_time_zone("Europe/Rome"),
            "moment": moments.dt.replace_time_zone(None), "rank": pl.Series(["a", None], dtype=pl.Enum(["b", "a"])),
            "word": pl.Series(["x", None], dtype=pl.Categorical), "short": pl.Series([1, 2], dtype=pl.Int8),
        }
    )  # fmt: skip
    pandas_testing = pytest.importorskip("pandas.testing", reason="pandas is absent: pip install 'crypsis[test]'")
    pandas_testing.assert_frame_equal(to_pandas(frame), frame.to_pandas())


def test_a_chart_and_the_plot_of_a_front_name_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ExtraMissing, match=r'drawing a chart needs .* pip install "crypsis\[pictures\]"'):
        Chart({"mark": "point"}).save(tmp_path / "front.png")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ExtraMissing, match=r"crypsis\[pictures\]"):
        Front.plot(object.__new__(Front))
    assert Chart({"mark": "point"}).save(tmp_path / "front.json").is_file()  # a specification needs nobody to draw it


def test_tables_larger_than_memory_name_the_extra() -> None:
    done = python(
        "sys.argv = 'crypsis generalise plan.toml --out x'.split(); from crypsis.cli import program; program()"
    )
    assert done.returncode == 2
    assert 'pip install "crypsis[large]"' in " ".join(done.stderr.split())


def test_a_package_that_lacks_something_itself_is_no_missing_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "halfway.py").write_text("import not_there_at_all\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all") as caught:
        import_extra("halfway", "studio", "a test")
    assert not isinstance(caught.value, ExtraMissing)


def test_versions_agree() -> None:
    assert f"version: {crypsis.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("## ")[1].startswith(crypsis.__version__)
