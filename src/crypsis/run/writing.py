"""What a run writes while it proceeds: whole quanta with their solutions, and solutions ahead of their quantum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crypsis.run.clock import charged_now
from crypsis.run.pace import Pace
from crypsis.run.search_state import SearchState
from crypsis.run.store import Store


@dataclass(frozen=True)
class Writing:
    """Writes the searches of a run.

    store  where to
    pace  takes note of the time it takes
    elapsed  seconds of the run so far
    """

    store: Store
    pace: Pace
    elapsed: Callable[[], float]

    def commit(self, search: SearchState) -> None:
        """One transaction: checkpoint, history and new solutions."""
        if not search.pending and not search.fresh:
            return
        started = charged_now()
        with self.store.transaction():
            if search.pending and search.state is not None:
                self.store.checkpoint(search.pending, search.state.to_bytes())
            for row in search.fresh:
                self.store.add(row)
            self.store.note(f"settled {search.index}", search.settled)
            self.store.note("elapsed", self.elapsed())
            self.store.note("finished", False)
        search.written_down()
        self.pace.took(("commit", search.title), charged_now() - started)

    def show(self, search: SearchState) -> None:
        """Show solutions before the state they belong to is written; a resumed run drops them."""
        with self.store.transaction():
            for row in search.fresh[search.shown :]:
                self.store.add(row, provisional=True)
        search.shown, search.last_shown = len(search.fresh), charged_now()
