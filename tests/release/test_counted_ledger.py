"""Counted releases in the ledger: the same source as in memory, and what two releases reveal together."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from crypsis.attacks.several_releases import tuples_together
from crypsis.errors import ReleaseRefused
from crypsis.masking.generalisation import Generalisation
from crypsis.masking.weights import publish_weight
from crypsis.measures.information_loss import InformationLoss
from crypsis.privacy import KAnonymity
from crypsis.release import lazy_ledger, publish, verify
from crypsis.release.lazy_release import CountedLimit, publish_counted, source_for_ledger
from crypsis.release.ledger import ReleaseLedger, Sketch, source_digest
from crypsis.searches.pbg_ea.demanded_node import CountedNodes, NodeTerms, find_demanded_node
from crypsis.table.frames import wrap
from crypsis.table.lazy import count_lazily, tally_weights
from crypsis.table.table import Table
from lazy_engines import QUASI, people

ROLES = {"identifiers": ["name"], "quasi_identifiers": QUASI, "confidential": ["illness"]}
HIERARCHIES = {"age": "intervals:5,10,20", "region": "merge:1", "sex": "merge:1"}
OPEN = {"wage": "other"}
MODELS = [KAnonymity(k=5)]
WAIVED = {"singling-out:wage": "an invented amount", "undecided:wage": "an invented amount"}


def counted(frame: pl.DataFrame):
    return count_lazily(frame.lazy(), **ROLES, hierarchies=HIERARCHIES).decide_roles(OPEN)


def in_memory(frame: pl.DataFrame, **more: object) -> Table:
    return wrap(frame, **ROLES, roles=OPEN, hierarchies=HIERARCHIES, **more)


def test_a_counted_source_has_the_digest_and_the_sketch_of_the_table_in_memory(monkeypatch):
    frame = people(1500)
    source, table = source_for_ledger(counted(frame)), in_memory(frame)
    assert source.digest() == source_digest(table)
    assert source.sketch("salt") == Sketch.of(table, "salt")
    assert list(source.quasi_identifiers) == list(table.quasi_identifiers)
    monkeypatch.setattr(lazy_ledger, "MOST_HASHED", 100)
    assert source.sketch("salt").smallest == Sketch.of(table, "salt").smallest
    assert source.sketch("salt").records == pytest.approx(1500, rel=0.25)
    assert source.digest() != source_digest(table)


def test_two_counted_releases_that_cross_are_refused_and_the_earlier_folder_is_named(tmp_path):
    frame = people(600)
    source, terms = counted(frame), {"models": MODELS, "suppression": 0.3, "waivers": WAIVED}
    publish_counted(source, (1, 1, 0), tmp_path / "first", **terms)
    with pytest.raises(ReleaseRefused, match="earlier") as refused:
        publish_counted(source, (4, 0, 0), tmp_path / "second", **terms)
    assert f'replaces="{(tmp_path / "first").resolve()}"' in str(refused.value)
    assert not (tmp_path / "second").exists()
    ledger = ReleaseLedger.usual(replaces=[tmp_path / "first"])
    publish_counted(source, (4, 0, 0), tmp_path / "second", **terms, ledger=ledger)
    assert verify(tmp_path / "second").sound
    assert [bool(each.withdrawn) for each in ReleaseLedger.usual().entries()] == [True, False]


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_release_in_memory_is_attacked_together_with_a_counted_one_and_the_other_way_round(tmp_path, format):
    frame = people(600)
    table, source = in_memory(frame), counted(frame)
    masked = Generalisation(levels={"age": 4, "region": 0, "sex": 0}, suppression=0.3, k=5).mask(table, None)
    terms = {"models": MODELS, "suppression": 0.3, "waivers": WAIVED, "format": format}
    publish_counted(source, (1, 1, 0), tmp_path / "counted", **terms)
    with pytest.raises(ReleaseRefused, match="joined with an earlier release"):
        publish(masked, tmp_path / "whole", models=MODELS, original=table, waivers=WAIVED)
    ledger = ReleaseLedger.usual(file=tmp_path / "other.json")
    publish(masked, tmp_path / "whole", models=MODELS, original=table, waivers=WAIVED, ledger=ledger)
    with pytest.raises(ReleaseRefused, match="joined with an earlier release"):
        publish_counted(source, (1, 1, 0), tmp_path / "again", **terms, ledger=ledger)


def test_what_is_not_looked_at_is_said(tmp_path, monkeypatch):
    source, terms = counted(people(600)), {"models": MODELS, "suppression": 0.3, "waivers": WAIVED}
    publish_counted(source, (1, 1, 0), tmp_path / "first", **terms)
    monkeypatch.setattr(lazy_ledger, "MOST_PAIRS", 10)
    publish_counted(source, (4, 0, 0), tmp_path / "second", **terms)
    notes = " ".join(json.loads((tmp_path / "second" / "internal" / "report.json").read_text())["notes"])
    assert "not attacked together with this one" in notes
    assert "pairs with an equal record" in notes
    assert str(tmp_path) not in notes


def test_counts_of_equal_records_cross_like_records():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"q": rng.integers(0, 6, 120), "s": rng.integers(0, 5, 120), "ill": rng.integers(0, 9, 120)})
    texts = frame.cast(pl.String)
    sides, weighted = [], []
    for own in ("q", "s"):
        roles = {"quasi_identifiers": [own], "confidential": ["ill"]}
        sides.append(wrap(texts.select(own, "ill"), **roles))
        tuples = texts.group_by(own, "ill", maintain_order=True).len()
        weighted.append((wrap(tuples.drop("len"), **roles), tuples["len"].to_numpy().astype(np.int64)))
    (one, before), (other, after) = weighted
    plain, counts = tuples_together(*sides, ["ill"]), tuples_together(one, other, ["ill"], (before, after))
    assert (counts.people, counts.k) == (plain.people, plain.k)
    assert counts.below == pytest.approx(plain.below)
    assert counts.fixed == pytest.approx(plain.fixed)
    assert counts.exposed == pytest.approx(plain.exposed)


def test_a_raked_weight_from_counts_is_that_of_the_records(tmp_path):
    rng = np.random.default_rng(8)
    frame = people(1200).drop("wage").with_columns(w=pl.Series(rng.integers(50, 900, 1200)))
    plan = {**ROLES, "hierarchies": HIERARCHIES}
    source = count_lazily(frame.lazy(), **plan).decide_roles({"w": "weight"})
    publish_counted(source, (3, 1, 0), tmp_path / "out", models=MODELS, suppression=0.3, weight="w")
    written = pl.read_parquet(tmp_path / "out" / "public" / "data-*.parquet")
    table = wrap(frame, **plan, roles={"w": "weight"})
    table = table.with_columns({}, attributes={"w": table.attribute("w").but(publish="raked")})
    masked = Generalisation(levels={"age": 3, "region": 1, "sex": 0}, suppression=0.3, k=5).mask(table, None)
    whole = publish_weight(masked, table)
    assert np.sort(written["w"].to_numpy()) == pytest.approx(np.sort(whole.column("w")[whole.kept]), rel=1e-4)
    assert written["w"].n_unique() < 60
    sums = tally_weights(source.frame, QUASI, "w")
    assert float(sums["weights of the tuple"].sum()) == pytest.approx(float(frame["w"].sum()))


def test_limits_are_measured_on_the_written_files(tmp_path):
    frame = people(1500)
    source, terms = counted(frame), {"models": MODELS, "suppression": 0.3, "waivers": WAIVED}
    asked = [CountedLimit("loss of age", 1.0, "information-loss", "age"), CountedLimit("risk", 0.01, "class-risk")]
    with pytest.raises(ReleaseRefused, match=r"loss of age may be at most 1 and is .*; risk may be at most 0.01"):
        publish_counted(source, (1, 1, 0), tmp_path / "out", **terms, limits=asked)


def test_losses_of_columns_are_those_of_the_records():
    frame = people(900)
    table, nodes = in_memory(frame), CountedNodes(counted(frame).counts, NodeTerms(k=5, suppression=0.3))
    for levels in ((0, 0, 0), (2, 1, 0), (3, 0, 1), (4, 1, 1)):
        method = Generalisation(levels=dict(zip(QUASI, levels, strict=True)), suppression=1.0, k=5)
        masked = method.mask(table, None)
        losses = nodes.column_losses(levels, nodes.suppressed(levels))
        for name in QUASI:
            assert losses[name] == pytest.approx(InformationLoss(columns=(name,)).against(table).read(masked)), name


def test_the_node_keeps_every_term_and_the_search_finds_that_of_all_nodes(monkeypatch):
    counts = counted(people(1500)).counts
    plain = find_demanded_node(counts, NodeTerms(k=5, suppression=0.05))
    assert plain.proven
    terms = NodeTerms(k=5, suppression=0.3, risk=2.0, locked=frozenset({"sex"}), most={"age": 99.0})
    found = find_demanded_node(counts, terms)
    assert found.node.levels[2] == 0
    assert found.risk <= 2.0
    assert found.losses["age"] <= 99.0
    linked = find_demanded_node(counts, NodeTerms(k=5, suppression=0.3, linked={"region": "sex"}))
    assert linked.node.levels[1] == linked.node.levels[2]
    monkeypatch.setattr("crypsis.searches.pbg_ea.demanded_node.MOST_ENUMERATED", 0)
    for each, exact in ((NodeTerms(k=5, suppression=0.05), plain), (terms, found)):
        assert find_demanded_node(counts, each).node == exact.node
