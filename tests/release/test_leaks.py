"""A planted rare value, an identifier and a seed are searched for in every byte a stranger could see."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from crypsis.cli import main
from crypsis.errors import CrypsisError, ReleaseRefused
from crypsis.masking import Microaggregation, TopCoding
from crypsis.measures import measures
from crypsis.measures.measure import Reading
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.release import MeasuredLimit, ReleaseDescription, publish
from crypsis.release.leaks import refuse_leaks
from crypsis.release.published import flatten
from crypsis.release.signing import fingerprint_seed
from crypsis.rulebook import read_rulebook
from crypsis.table.example import example
from crypsis.table.files import write_table
from crypsis.table.precision import at_source_precision
from crypsis.table.table import Table
from waiving import waiving

ILLNESS = "Zyxwert's syndrome & ague"
NAME = "P424242"
INCOME = 987_654.0
SEED = 918_273_645


@pytest.fixture(scope="module")
def original() -> Table:
    """The example with one person nobody may learn of."""
    table = example(200, seed=4)
    labels = table.labels("diagnosis")
    diagnosis, person, income = (table.column(n).copy() for n in ("diagnosis", "person", "income"))
    names = list(table.labels("person"))
    names[int(person[7])] = NAME
    diagnosis[7], income[7] = len(labels), INCOME
    return table.with_columns(
        {"diagnosis": diagnosis, "income": income},
        attributes={
            "diagnosis": table.attribute("diagnosis").but(categories=(*labels, ILLNESS)),
            "person": table.attribute("person").but(categories=tuple(names)),
        },
    )


@pytest.fixture(scope="module")
def masked(original: Table) -> Table:
    """Masked, and the rare person suppressed."""
    whole = Microaggregation(k=5).mask(original, np.random.default_rng(SEED))
    gone = np.zeros(len(original), dtype=bool)
    gone[7] = True
    return whole.without(gone)


def forms(text: str) -> list[bytes]:
    """A text as it may stand in CSV, JSON or HTML."""
    import html

    return [each.encode() for each in {text, html.escape(text), json.dumps(text)[1:-1], text.replace("'", "&#39;")}]


SECRETS = [*forms(ILLNESS), NAME.encode(), b"987654", str(SEED).encode()]


POINT = {"name": "1", "family": "memetic", "kind": "chosen", "loss": 10.0, "risk": 12.0}


def release(masked: Table, folder: Path, description: ReleaseDescription | None = None, **more: object) -> Path:
    settings = {"method": "microaggregation", "k": 4, "seed": SEED, "steps": {"random_seed": SEED}}
    usual = ReleaseDescription("Survey", "Microaggregation in groups of five.", "aggregation", settings)
    described = replace(description or usual, front=[POINT])
    described = described if described.seed is not None else replace(described, seed=SEED)
    given = {"description": described, "waivers": waiving("income"), **more}
    return publish(masked, folder, models=[KAnonymity(k=4)], **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_no_byte_of_the_bundle_tells_the_rare_person_or_the_seed(
    original: Table, masked: Table, format: str, tmp_path: Path
) -> None:
    folder = release(
        masked,
        tmp_path / "out",
        original=original,
        format=format,
        limits=[MeasuredLimit(measures.build("table-use", columns=("sex",)), 50, "People by sex")],
        rulebook=read_rulebook("licensed"),
    )
    for path in (folder / "public").iterdir():
        content = path.read_bytes()
        assert not [secret for secret in SECRETS if secret in content], path.name
    for path in (folder / "internal").iterdir():
        content = path.read_bytes()
        assert not [secret for secret in SECRETS if secret in content], "rare values and seeds stay out even here"


def test_the_external_part_holds_no_risk(original: Table, masked: Table, tmp_path: Path) -> None:
    folder = release(
        masked, tmp_path / "out", original=original, limits=[MeasuredLimit(measures.build("record-linkage"), 90)]
    )
    inner = json.loads((folder / "internal" / "manifest.json").read_text(encoding="utf-8"))
    assert inner["risks"]
    risky = [name for name in measures if measures[name].aim == "risk"]
    for path in (folder / "public").iterdir():
        text = path.read_text(encoding="utf-8")
        for reading in inner["risks"]:
            assert repr(reading["value"]) not in text or float(reading["value"]).is_integer()
        assert not [name for name in risky if name in text], path.name
        assert "seed" not in text.lower() or path.name == "data.csv"
    report = json.loads((folder / "public" / "report.json").read_text(encoding="utf-8"))
    assert "settings" not in report
    assert "risks" not in report


@pytest.mark.parametrize(
    ("description", "words"),
    [
        (ReleaseDescription("Survey", f"One case of {ILLNESS} was left out."), "rare value of column 'diagnosis'"),
        (ReleaseDescription(f"Survey without {NAME}"), "rare value of column 'person'"),
        (ReleaseDescription("Survey", "An income of 987654 was left out."), "rare number of column 'income'"),
        (ReleaseDescription("Survey", f"Drawn with {SEED}."), "the seed"),
        (ReleaseDescription("Survey", "Found by record-linkage: few."), "record-linkage"),
    ],
)
def test_words_that_would_tell_are_refused_without_repeating_them(
    original: Table, masked: Table, description: ReleaseDescription, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ReleaseRefused, match=words) as refusal:
        release(masked, tmp_path / "out", original=original, description=description)
    assert not [secret for secret in SECRETS if secret in str(refusal.value).encode()]
    assert list(tmp_path.iterdir()) == []


def test_a_risk_figure_in_words_is_refused(original: Table, masked: Table, tmp_path: Path) -> None:
    value = measures.build("record-linkage").against(original).read(at_source_precision(masked, original))
    description = ReleaseDescription("Survey", f"An intruder finds {value:.6g} per cent.", "aggregation")
    with pytest.raises(ReleaseRefused, match="figure of record-linkage"):
        release(masked, tmp_path / "out", original=original, description=description)


def test_a_short_seed_is_found_where_it_is_called_one(original: Table, masked: Table, tmp_path: Path) -> None:
    description = ReleaseDescription("Survey of 2026", "Masked with seed = 2026.", seed=2026)
    with pytest.raises(ReleaseRefused, match="the seed"):
        release(masked, tmp_path / "out", original=original, description=description)
    fine = ReleaseDescription("Survey of 2026", seed=2026)
    release(masked, tmp_path / "fine", original=original, description=fine)


def test_words_of_the_reports_and_of_published_labels_are_no_leak(tmp_path: Path) -> None:
    """Rare labels such as 'other' or 'heart' cannot be told from the program's words and from published labels."""
    rare = ["heart", "table", "other", "unknown", "none", "numeric", "masked", "hidden", "records", "low", "kept"]
    rare += ["attained", "settings", "every", "suppressed", "shuffled", "data", "quasi", "k", "k-anonymity", "groups"]
    cells = ["heart disease"] * 10 + ["back pain"] * 10 + rare
    original = Table.from_columns(
        {"illness": cells, "place": ["a"] * len(cells)}, {"place": "quasi", "illness": "other"}
    )
    gone = np.arange(len(cells)) >= 20
    folder = publish(original.without(gone), tmp_path / "out", models=[KAnonymity(k=5)], original=original)
    assert (folder / "public" / "data.csv").is_file()


def test_every_public_file_is_searched(tmp_path: Path, original: Table) -> None:
    public = tmp_path / "public"
    public.mkdir()
    published = original.drop(["person", "diagnosis"])
    (public / "schema.json").write_text(json.dumps({"x": ILLNESS}), encoding="utf-8")
    with pytest.raises(ReleaseRefused, match=r"schema\.json has a rare value of column 'diagnosis'"):
        refuse_leaks(public, published, original)
    (public / "schema.json").write_text("{}", encoding="utf-8")
    (public / "data.csv").write_bytes(b"a,b\n1," + NAME.encode() + b"\n")
    with pytest.raises(ReleaseRefused, match=r"data\.csv has a rare value of column 'person'"):
        refuse_leaks(public, published, original)
    (public / "data.csv").write_bytes(b"a,b\n1,2\n")
    (public / "report.html").write_text("<p>12.34567 %</p>", encoding="utf-8")
    risk = Reading("record-linkage", 12.34567, "%", "low", "risk", "…")
    with pytest.raises(ReleaseRefused, match=r"report\.html has the figure"):
        refuse_leaks(public, published, original, risks=[risk])
    short = Reading("rank-linkage", 12.35, "%", "low", "risk", "…")
    (public / "report.html").write_text("<p>12.35 %</p>", encoding="utf-8")
    refuse_leaks(public, published, original, risks=[short])  # a loss may have the same four digits
    (public / "report.json").write_text(json.dumps({"losses": [12.35], "method": "as is"}), encoding="utf-8")
    refuse_leaks(public, published, original, risks=[short])
    (public / "report.json").write_text(json.dumps({"method": "found again: 12.35 %"}), encoding="utf-8")
    with pytest.raises(ReleaseRefused, match=r"report\.json has the figure of rank-linkage"):
        refuse_leaks(public, published, original, risks=[short])


def test_short_labels_in_the_bytes_of_numbers_are_no_leak(tmp_path: Path) -> None:
    """A Parquet file of a few numbers holds any two letters somewhere; what it spells is read back from it."""
    original = Table.from_columns({"id": ["p7", "Johannes"], "x": [1.0, 2.0]}, {"id": "identifier", "x": "quasi"})
    (tmp_path / "data.parquet").write_bytes(b"\x00\x01p7\x02")
    refuse_leaks(tmp_path, original.drop(["id"]), original)
    (tmp_path / "data.parquet").write_bytes(b"\x00\x01Johannes\x02")
    with pytest.raises(ReleaseRefused, match="rare value of column 'id'"):
        refuse_leaks(tmp_path, original.drop(["id"]), original)


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and everything a terminal or a log would show."""
    seen = io.StringIO()
    with redirect_stdout(seen), redirect_stderr(seen), patch.object(sys, "argv", ["crypsis", *map(str, arguments)]):
        try:
            main()
            code = 0
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 0
    return code, seen.getvalue()


def test_neither_logs_nor_errors_of_the_command_line_tell(original: Table, masked: Table, tmp_path: Path) -> None:
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    write_table(original, before)
    write_table(masked.take(np.flatnonzero(masked.kept)), after)
    roles = ["-q", "age,sex,district", "--identifier", "person", "--confidential", "income,diagnosis"]
    shown = [
        run("profile", before),
        run("mask", before, "microaggregation", "-s", "k=5", *roles, "-o", tmp_path / "m.csv", "--seed", SEED),
        run("release", before, *roles, "-r", "k-anonymity:k=5", "-o", tmp_path / "bad"),
        run("release", after, *roles, "-r", "l-diversity:l=4", "-o", tmp_path / "worse"),
        run("release", after, "--original", before, *roles, "-r", "k-anonymity:k=2", "-o", tmp_path / "rows"),
        run("assess", before, after, *roles),
    ]
    codes = [code for code, _ in shown]
    assert codes[:4] == [0, 0, 1, 1]
    assert all(code in (0, 1, 2) for code in codes)
    for _, text in shown:
        assert not [secret for secret in SECRETS if secret in text.encode()], text


def test_messages_of_models_and_reprs_hold_no_value(original: Table) -> None:
    for attempt in (KAnonymity(k=99), LDiversity(l=50)):
        with pytest.raises(CrypsisError) as refusal:
            publish(original, "nowhere", models=[attempt])
        assert not [secret for secret in SECRETS if secret in str(refusal.value).encode()]
    assert ILLNESS not in repr(original) + repr(original.attribute("diagnosis"))


def test_the_fingerprint_of_a_seed_proves_it_and_does_not_tell_it() -> None:
    first, second = fingerprint_seed(SEED), fingerprint_seed(SEED)
    assert first != second, "salted"
    salt = bytes.fromhex(first.split(":")[0])
    assert fingerprint_seed(SEED, salt) == first
    assert fingerprint_seed(SEED + 1, salt) != first
    assert str(SEED) not in first


@pytest.mark.parametrize(("holders", "refused"), [(1, True), (2, True), (3, False)])
def test_what_two_people_hold_is_rare_and_what_three_hold_is_not(tmp_path: Path, holders: int, refused: bool) -> None:
    """An illness and an income of so many people, all suppressed, that a public sentence names."""
    ill = [ILLNESS] * holders + ["flu", "cold"] * 10
    income = [INCOME] * holders + [1000.0, 2000.0] * 10
    roles = {"sex": "quasi", "ill": "confidential", "income": "confidential"}
    table = Table.from_columns({"sex": ["f"] * len(ill), "ill": ill, "income": income}, roles)
    shown = flatten(table, np.arange(holders, len(ill)))
    for text, found in ((ILLNESS, "rare value of column 'ill'"), (str(int(INCOME)), "rare number of column 'income'")):
        public = tmp_path / found
        public.mkdir()
        (public / "report.json").write_text(json.dumps({"method": f"Without {text}."}), encoding="utf-8")
        if refused:
            with pytest.raises(ReleaseRefused, match=found):
                refuse_leaks(public, shown, table)
        else:
            refuse_leaks(public, shown, table)


def test_a_seed_is_slow_to_try() -> None:
    salt, digest = fingerprint_seed(SEED).split(":")
    slow = hashlib.scrypt(str(SEED).encode(), salt=bytes.fromhex(salt), n=2**14, r=8, p=1, dklen=32)
    assert digest == slow.hex()


def test_figures_before_and_after_do_not_tell_the_value_of_the_one_record_that_changed(tmp_path: Path) -> None:
    """One of 400 people made 9 visits, the highest others 8: the sum before less the sum of the file would be 1."""
    visits = [9.0] + [8.0] * 9 + [0.0, 1.0, 2.0] * 130
    sex = ["f", "m"] * 200
    table = Table.from_columns({"sex": sex, "visits": visits}, {"sex": "quasi", "visits": "confidential"})
    coded = TopCoding(columns=("visits",), percent=0.1).mask(table, np.random.default_rng(0))
    assert coded.column("visits").max() == 8
    publish(coded, tmp_path / "out", models=[KAnonymity(k=5)], original=table, rng=np.random.default_rng(0))
    told = json.loads((tmp_path / "out" / "public" / "report.json").read_text(encoding="utf-8"))
    figures = {each["figure"]: each for each in told["estimates"][1]["figures"]}
    total = sum(visits) - 1
    assert figures["total"]["before"] == round(total + 1, -1), "one record may move it by 9"
    assert abs(figures["mean"]["before"] * 400 - total) > 1, "nor may the mean tell it"
    assert "0.1" not in told["method"]
    assert "the highest values of visits become one" in told["method"].lower()
