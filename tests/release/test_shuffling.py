"""Files in another order: the same records, none in a place that tells where it stood."""

from __future__ import annotations

import numpy as np
import polars as pl

from crypsis.privacy import KAnonymity
from crypsis.release import lazy_shuffling
from crypsis.release.lazy_release import publish_counted
from crypsis.release.lazy_shuffling import shuffle_lazy_release
from crypsis.release.published import order_published_rows
from crypsis.table.lazy import count_lazily
from crypsis.table.table import Table


def test_the_same_records_in_an_order_drawn_at_random(tmp_path, monkeypatch):
    monkeypatch.setattr(lazy_shuffling, "PART", 700)
    monkeypatch.setattr(lazy_shuffling, "BATCH", 300)
    frame = pl.DataFrame({"n": range(4_000), "t": [str(n) for n in range(4_000)]})
    frame[:1_000].write_parquet(tmp_path / "a.parquet")
    frame[1_000:].write_parquet(tmp_path / "b.parquet")
    shuffle_lazy_release(tmp_path, np.random.default_rng(1))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"part-{n:03d}.parquet" for n in range(6)]
    order = pl.concat([pl.read_parquet(tmp_path / name) for name in names])
    assert order.sort("n").equals(frame)
    places = np.empty(4_000)
    places[order["n"].to_numpy()] = np.arange(4_000)
    assert abs(np.corrcoef(np.arange(4_000), places)[0, 1]) < 0.06
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 0.06, "neighbours are parted"


def test_the_order_is_drawn_anew_from_the_system(tmp_path):
    """Two releases of one table stand in two orders; an order that can be drawn again could be undone."""
    table = Table.from_columns({"x": [float(n) for n in range(40)]})
    orders = {tuple(order_published_rows(table, "shuffled").tolist()) for _ in range(3)}
    assert len(orders) == 3
    assert all(sorted(order) == list(range(40)) for order in orders)
    frame = pl.DataFrame({"sex": ["f", "m"] * 30, "n": [n // 6 for n in range(60)]})
    written = set()
    for place in range(3):
        held = count_lazily(frame.lazy(), quasi_identifiers=["sex"], hierarchies={"sex": "merge:1"}).decide_roles(
            {"n": "other"}
        )
        reasons = {"combination:n": "invented", "singling-out:n": "invented"}
        folder = publish_counted(
            held, [0], tmp_path / f"{place}", models=[KAnonymity(k=5)], suppression=0.0, waivers=reasons
        )
        written.add(tuple(pl.read_parquet(folder / "public" / "data-*.parquet")["n"].to_list()))
    assert len(written) == 3
