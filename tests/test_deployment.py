"""What the container file and the deployment page tell people to run exists, with every option they name."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

from crypsis.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
LINES = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
SHELL = [line for block in re.findall(r"^```text\n(.*?)^```", PAGE, re.M | re.S) for line in block.splitlines()]
DASK = {"scheduler": "distributed.cli.dask_scheduler", "worker": "distributed.cli.dask_worker"}


def instructions(word: str) -> list[str]:
    return [line.split(" ", 1)[1] for line in LINES if line.split(" ", 1)[0] == word]


def check_crypsis(words: list[str]) -> None:
    """The command exists and knows the options."""
    group = typer.main.get_command(app)
    known = group.commands.get(words[1])
    assert known or words[1].startswith("--"), f"there is no command crypsis {words[1]}"
    holder = known or group
    options = {name for parameter in holder.params for name in parameter.opts} | {"--help"}
    for word in words[1:]:
        assert not word.startswith("--") or word in options, f"crypsis {words[1]} has no option {word}"


def test_the_container_file_copies_what_exists_and_installs_what_is_offered():
    for copied in instructions("COPY"):
        for source in copied.split()[:-1] if not copied.startswith("--from=") else ():
            assert (ROOT / source).exists(), f"{source} is copied and not there"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in instructions("RUN"):
        for call in re.findall(r"pip install [^&]*", line):
            assert "--require-hashes" in call or "--no-deps --no-index" in call, f"{call} would take what is not locked"
    version = instructions("FROM")[0].partition(":")[2].split("-")[0]
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]
    (entry,) = json.loads(instructions("ENTRYPOINT")[0])
    assert entry in project["scripts"]


def test_the_container_file_runs_commands_that_exist_and_not_as_root():
    check_crypsis(["crypsis", *json.loads(instructions("CMD")[0])])
    for line in instructions("RUN"):
        if line.startswith("crypsis"):
            check_crypsis(shlex.split(line))
    words = [line.split(" ", 1)[0] for line in LINES]
    last = len(words) - words[::-1].index("FROM")
    assert words.index("USER", last) < words.index("ENTRYPOINT")
    assert int(instructions("USER")[-1]) >= 1000  # a number: an orchestrator can see that it is not root


@pytest.mark.parametrize("line", [line for line in SHELL if re.match(r"(\S*/)?(crypsis|dask|docker run)\s", line)])
def test_the_page_names_commands_and_options_that_exist(line):
    words = shlex.split(line)
    if words[0] == "docker":
        check_crypsis(words[words.index("crypsis") :])
    elif words[0] == "dask":
        pytest.importorskip("distributed", reason="dask is absent: pip install 'crypsis[dask]'")
        options = {o for p in importlib.import_module(DASK[words[1]]).main.params for o in (*p.opts, *p.secondary_opts)}
        assert {word for word in words[2:] if word.startswith("--")} <= options
    else:
        check_crypsis(["crypsis", *words[1:]])
