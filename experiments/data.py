"""The public data sets of the five papers: where they are, and where those that may be downloaded come from.

    python experiments/data.py list
    python experiments/data.py fetch water [--to data]

No data are shipped. A file is looked for in the folder CRYPSIS_DATA, then in ../shared/data beside the source tree.
A download is brought into the form that the experiments read and must then have the known SHA-256.
"""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import main
from crypsis.cli.output import say, show_spinner
from crypsis.errors import TableError, listing, suggestion
from crypsis.small_tables import table
from crypsis.table.atomic_files import private_folder, write_atomically

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_UCI_LICENCE = "UCI Machine Learning Repository, believed CC BY 4.0: check before passing the file on"
_MOST_BYTES = 50_000_000

_WATER = (
    "DATE,Q-E,ZN-E,PH-E,DBO-E,DQO-E,SS-E,SSV-E,SED-E,COND-E,PH-P,DBO-P,SS-P,SSV-P,SED-P,COND-P,PH-D,DBO-D,DQO-D,"
    "SS-D,SSV-D,SED-D,COND-D,PH-S,DBO-S,DQO-S,SS-S,SSV-S,SED-S,COND-S,RD-DBO-P,RD-SS-P,RD-SED-P,RD-DBO-S,RD-DQO-S,"
    "RD-DBO-G,RD-DQO-G,RD-SS-G,RD-SED-G"
)
_ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,salary-class"
)
_GERMAN = (
    "EXISTACC,DURATION,CREDITHISTORY,PURPOSE,CREDITAMOUNT,SAVINGS,PRESEMPLOY,INSTALLRATE,STATUSSEX,OTHERDEBTORS,"
    "RESIDENCE,PROPERTY,AGE,OTHERINSTALL,HOUSING,EXISTCREDITS,JOB,DEPENDENTS,TELEPHONE,FOREIGN,CLASS"
)
_FLARE = (
    "CLASS,LARGSPOT,SPOTDIST,ACTIVITY,EVOLUTION,PREVACTIVITY,HISTCOMPLEX,HISTCOMPLEXPASS,AREA,AREALARGSPOT,CFLARES,"
    "MFLARES,XFLARES"
)


def _lines(head: str, rows: Iterable[list[str]]) -> str:
    """A header and the rows of its width; other rows describe the file and are left out."""
    width = head.count(",") + 1
    return "".join([head + "\n", *(",".join(row) + "\n" for row in rows if len(row) == width)])


def _water(raw: str) -> str:
    """Replace `?` by an empty field, remove `D-` and trailing zeros."""
    rows = [line.strip().split(",") for line in raw.splitlines() if line.startswith("D-")]
    return _lines(_WATER, ([row[0].removeprefix("D-"), *map(_number, row[1:])] for row in rows))


def _number(text: str) -> str:
    text = text.strip()
    return "" if text == "?" else f"{float(text):.10g}"


def _adult(raw: str) -> str:
    """Remove blanks after commas, and records with a `?`."""
    rows = [[cell.strip() for cell in line.split(",")] for line in raw.splitlines()]
    return _lines(_ADULT, (row for row in rows if "?" not in row))


def _german(raw: str) -> str:
    return _lines(_GERMAN, map(str.split, raw.splitlines()))


def _flare(raw: str) -> str:
    return _lines(_FLARE, map(str.split, raw.splitlines()))


@dataclass(frozen=True)
class Download:
    """A file that can be downloaded."""

    file: str  # name of the file
    url: str  # address of the download
    shape: Callable[[str], str]  # text at the address → the CSV that the experiments read
    sha256: str  # digest of that CSV
    licence: str = _UCI_LICENCE  # terms of the data


SOURCES: dict[str, Download] = {
    "water": Download(
        "water_treatment.csv",
        f"{_UCI}/water-treatment/water-treatment.data",
        _water,
        "a369431f90724781863069c5db16e3a0ce7ad2bdcbc0e2be7c8af6933f76452d",
    ),
    "adult": Download(
        "adult.csv",
        f"{_UCI}/adult/adult.data",
        _adult,
        "4500b1a15e2c3d5d04a29f46f127c4041310add7722b22173d52ab562d00da21",
    ),
    "german": Download(
        "german_credit.csv",
        f"{_UCI}/statlog/german/german.data",
        _german,
        "ee43c7e09ea623dd9b701beddb032473dba5afef9dab8202c1457cd81bcb5ab9",
    ),
    "flare": Download(
        "solar_flare.csv",
        f"{_UCI}/solar-flare/flare.data2",
        _flare,
        "747bdfe3da3bbc9341bb2de45aea66b4b3b3928f9aa4300c655d835a659e000a",
    ),
}
ELSEWHERE = {
    "census": "census.csv and eia.csv are inside the R package sdcMicro (data/CASCrefmicrodata.rda, data/EIA.rda, "
    "GPL-2; the figures are of US federal agencies): in R, data(CASCrefmicrodata, package = 'sdcMicro') and write.csv",
    "hierarchies": "dgh/adult_*.csv were written for this project after ARX's (Apache-2.0) and are not online",
}
"""Data that cannot be downloaded as a plain file, and how to get them."""


def data_folder() -> Path:
    """The folder of reference data, whether or not it exists."""
    named = os.environ.get("CRYPSIS_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def reference_file(name: str) -> Path:
    """The path of a reference file."""
    path = data_folder() / name
    if path.is_file():
        return path
    known = next((key for key, source in SOURCES.items() if source.file == name), None)
    how = f"get it with: python experiments/data.py fetch {known}" if known else "see: python experiments/data.py list"
    raise TableError(
        f"{name}: the reference data is not in {data_folder().name}/; {how}, and set CRYPSIS_DATA to its folder"
    )


def fetch(name: str, folder: Path, url: str = "") -> Path:
    """Download a data set, convert it, check its digest, and write it into a folder.

    `url`: another address with the same content, such as a mirror.
    """
    if name not in SOURCES:
        if name in ELSEWHERE:
            raise TableError(f"{name!r} cannot be downloaded as a plain file: {ELSEWHERE[name]}")
        raise TableError(f"there is no data set {name!r}{suggestion(name, SOURCES)}; known: {listing(SOURCES)}")
    source = SOURCES[name]
    target = folder / source.file
    if target.exists():
        raise TableError(f"{target}: already exists; remove it first or give another folder")
    content = source.shape(_download(url or source.url)).encode("utf-8")
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise TableError(
            f"{name}: the content of {url or source.url} is not the file of the experiments (SHA-256 {found[:12]}…, "
            f"expected {source.sha256[:12]}…), so nothing is written; give another address"
        )
    private_folder(folder)
    write_atomically(target, content, mode=0o644)
    return target


def _download(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        raise TableError(f"{url!r}: only http and https addresses can be fetched")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            content: bytes = answer.read(_MOST_BYTES + 1)
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise TableError(
            f"{url}: cannot be fetched ({reason}); download it by other means and set CRYPSIS_DATA"
        ) from None
    if len(content) > _MOST_BYTES:
        raise TableError(f"{url}: is larger than {_MOST_BYTES // 1_000_000} MB, which no data set here is")
    return content.decode("utf-8", errors="replace")


# -- The command line.

app = typer.Typer(
    help="List and download the public data sets of the papers.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command("list")
def list_sources() -> None:
    """List the data sets, their licences, and whether they are on this machine."""
    rows = [
        (name, source.file, "yes" if (data_folder() / source.file).is_file() else "no", source.url, source.licence)
        for name, source in SOURCES.items()
    ]
    say(table(("name", "file", "present", "from", "licence"), rows))
    for name, how in ELSEWHERE.items():
        say(f"{name}: {how}")


@app.command("fetch")
def fetch_source(
    name: Annotated[str, typer.Argument(help="water, adult, german or flare", show_default=False)],
    folder: Annotated[Path, typer.Option("--to", help="folder to put the file into")] = Path("data"),
    url: Annotated[str, typer.Option("--from", help="another address of the same content", show_default=False)] = "",
) -> None:
    """Download a data set from its public source and check it.

    Its digest must be that of the data the experiments use.
    """
    with show_spinner(f"fetching {name}"):
        path = fetch(name, folder, url)
    say(f"{path}: written and checked; licence: {SOURCES[name].licence}")
    say(f"use it with: export CRYPSIS_DATA={folder}")


if __name__ == "__main__":
    main(app)
