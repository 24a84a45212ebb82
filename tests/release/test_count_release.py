"""A release of counted data: its figures are those of the same release in memory, and verify sees every change."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from crypsis.errors import PlanError, TableError
from crypsis.masking.generalisation import Generalisation
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.privacy import KAnonymity, LDiversity, TCloseness
from crypsis.privacy.anonymity import smallest_anonymity_class
from crypsis.release import judge_evidence_by_rulebook, verify
from crypsis.release.lazy_release import judge_lazy_release, publish_counted, table_for_lazy_release
from crypsis.rulebook import read_rulebook
from crypsis.searches.pbg_ea.evaluation import optimal_lattice_node
from crypsis.table.frames import wrap
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lazy import RECORDS, count_lazily
from lazy_engines import QUASI, people
from waiving import waiving

HIERARCHIES = {
    "age": "intervals:5,10,20",
    "region": Hierarchy.from_rows([("north", "*"), ("east", "*"), ("south", "*"), ("west", "*")]),
    "sex": Hierarchy.from_rows([("f", "*"), ("m", "*")]),
}
ROLES = {"quasi_identifiers": QUASI, "confidential": ["illness"], "identifiers": ["name"], "hierarchies": HIERARCHIES}
MODELS = [KAnonymity(k=5), LDiversity(l=2)]


@pytest.fixture(scope="module")
def source():
    return count_lazily(people(2_000).lazy(), **ROLES).decide_roles({"wage": "other"})


@pytest.fixture
def bundle(source, tmp_path):
    best = optimal_lattice_node(source.counts, 5, 0.03, l=2)
    reasons = waiving("wage")
    folder = tmp_path / "out"
    return publish_counted(source, best.levels, folder, models=MODELS, suppression=0.03, waivers=reasons), best.levels


def test_the_bundle_says_what_measures_and_models_read_from_the_table(source, bundle):
    folder, levels = bundle
    table = wrap(people(2_000), **ROLES)
    masked = Generalisation(levels=dict(zip(QUASI, levels, strict=True)), suppression=0.03, k=5, l=2).mask(table, None)
    told = json.loads((folder / "internal" / "report.json").read_text())
    for model, verdict, before in zip(MODELS, told["verdicts"], told["verdicts_before"], strict=True):
        for said, judged in ((verdict, model.judge(masked)), (before, model.judge(table))):
            lists = {name: tuple(said[name]) for name in ("columns", "assumptions")}
            assert {**said, **lists} == judged.__dict__
    assert told["smallest_class"] == {"columns": list(QUASI), "size": smallest_anonymity_class(masked).size}
    assert verify(folder).smallest_class == smallest_anonymity_class(masked)
    assert told["losses"][0]["value"] == pytest.approx(GeneralLoss().against(table).read(masked), rel=1e-12)
    linkage = RecordLinkage().against(table)
    for when, shown in (("risks_before", table), ("risks", masked)):
        expected, found = linkage.explain(shown), told[when][0]
        assert found["value"] == pytest.approx(expected.value, rel=1e-12)
        assert found["interval"] == pytest.approx(list(expected.interval))
        assert found["counts"] == pytest.approx(dict(expected.counts))
    assert told["suppressed"] == int((~masked.kept).sum())


def test_the_bundle_verifies_and_keeps_the_rules_of_every_release(bundle):
    folder, _ = bundle
    found = verify(folder)
    assert found.sound, found.problems
    assert [v.model for v in found.verdicts] == ["k-anonymity", "l-diversity"]
    assert verify(folder / "public").sound
    assert {oct(p.stat().st_mode)[-3:] for p in (folder / "internal").iterdir()} == {"600"}
    assert oct((folder / "internal").stat().st_mode)[-3:] == "700"
    data = pl.read_parquet(folder / "public" / "data-*.parquet")
    assert "name" not in data.columns
    original = people(2_000)["wage"]
    assert data["wage"].to_list() != original.filter(original.is_in(data["wage"].implode())).to_list(), "shuffled"
    with pytest.raises(TableError, match="counted"):
        judge_evidence_by_rulebook(folder, read_rulebook("public-use"))


def test_whatever_is_changed_is_seen(bundle):
    public = bundle[0] / "public"
    path = public / "data-000.parquet"
    data = pl.read_parquet(path)
    data.with_columns(age=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("999")).otherwise("age")).write_parquet(path)
    problems = " ".join(verify(public).problems)
    assert "data-000.parquet was changed" in problems
    assert "k-anonymity requires at least 5 over age, region, sex, the file attains 1" in problems
    assert "judged differently" in problems
    assert "counts other" in problems
    data.write_parquet(public / "data-001.parquet")
    assert "does not belong" in " ".join(verify(public).problems)


def test_verdicts_on_tuples_are_those_on_records():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"q": rng.integers(0, 9, 90), "r": rng.integers(0, 3, 90), "s": rng.integers(0, 4, 90)})
    table = wrap(frame.cast(pl.String), quasi_identifiers=["q", "r"], confidential=["s"])
    counted = frame.group_by("q", "r", "s").agg(pl.len().cast(pl.Int64).alias(RECORDS))
    tuples = table_for_lazy_release(counted, ["q", "r"])
    for model in (*MODELS, KAnonymity(k=40, quasi_identifiers=("r",)), LDiversity(l=4)):
        assert judge_lazy_release(model, tuples, counted[RECORDS].to_numpy()) == model.judge(table)


def test_what_counts_cannot_prove_is_refused(source, tmp_path):
    with pytest.raises(PlanError, match="t-closeness cannot be proven by counting"):
        publish_counted(source, (3, 1, 1), tmp_path / "out", models=[TCloseness()], suppression=0.1)
    with pytest.raises(PlanError, match="nothing is required"):
        publish_counted(source, (3, 1, 1), tmp_path / "out", models=[], suppression=0.1)
    assert list(tmp_path.iterdir()) == []
