"""The utility card: what a masking did to a file, what was harmed most first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.utility.analyses import Analyses, AnalysesKept
from crypsis.measures.utility.associations import AssociationChange, association_changes
from crypsis.measures.utility.distributions import ColumnHarm, Distributions
from crypsis.measures.utility.estimates import ColumnEstimates, column_estimates
from crypsis.measures.utility.propensity import Model, PropensityScore, propensity_score
from crypsis.measures.utility.weighted_estimates import WeightedComparison, weighted_estimates
from crypsis.registry import ColumnName, Settings
from crypsis.small_tables import draw_html_table, draw_text_table
from crypsis.table.attribute import UNPUBLISHED
from crypsis.table.table import Table

HarmThreshold = Literal["loss", "distance", "vanished", "tail", "constant", "total"]
CONSTANT = 50.0
"""A column that became constant has the figure 100, any other 0."""


@dataclass(frozen=True)
class Ruin:
    """A column beyond a threshold.

    Attributes
    ----------
    column : str
        The column.
    harm : {"loss", "distance", "vanished", "tail", "constant", "total"}
        What is beyond its threshold: the loss of the column, the distance of its distribution, the share of the
        records whose value no longer occurs, the share of the records that one end of a number lost, that the column
        has one value left, or the change of the total of a number.
    found, at_most : float
        What was found and the threshold, per cent.

    Examples
    --------
    >>> crypsis.Usefulness().ruins({"town": {"loss": 5.0, "distance": 31.0, "vanished": 2.0}})[0].harm
    'distance'
    """

    column: str
    harm: HarmThreshold
    found: float
    at_most: float


class Usefulness(Settings):
    """Thresholds beyond which a column is ruined and a file no longer useful.

    A solution with a ruined column is marked, and no offer names it while another solution has none.

    Examples
    --------
    >>> useful = crypsis.Usefulness(column_loss=40)
    >>> useful.ruins({"age": {"loss": 45.0, "distance": 3.0, "vanished": 0.0}})
    (Ruin(column='age', harm='loss', found=45.0, at_most=40.0),)
    """

    analyses: float = Field(
        default=75.0,
        ge=0,
        le=100,
        description="smallest share of the estimates of analyses drawn at random that a useful file keeps, per cent",
    )
    loss: float = Field(
        default=60.0, gt=0, le=200, description="largest overall loss of a file worth considering, per cent"
    )
    column_loss: float = Field(
        default=100.0,
        gt=0,
        le=200,
        description="largest loss of one column, per cent; at 100 its cells say no more than its distribution",
    )
    distance: float = Field(
        default=25.0,
        gt=0,
        le=100,
        description="largest distance of the distribution of one column before and after, per cent of the records: "
        "total variation of categories; Kolmogorov distance of numbers, small shifts forgiven",
    )
    vanished: float = Field(
        default=10.0, gt=0, le=100, description="largest share of the records whose value no longer occurs, per cent"
    )
    tail: float = Field(
        default=100.0,
        gt=0,
        le=100,
        description="largest share of the records below the 5 % point of a number, or above its 95 % point, that are "
        "gone from there, per cent; at 100 an end may become empty",
    )
    total: float = Field(
        default=20.0, gt=0, le=1000, description="largest change of the total of a number, either way, per cent"
    )
    constant: bool = Field(
        default=False, description="whether a column that varies in the original may have one value in the file"
    )
    income: ColumnName = Field(
        default="",
        description="numeric column of incomes whose at-risk-of-poverty rate, 60 % of the weighted median, is reported "
        "before and after; none where it is empty",
    )

    @property
    def limits(self) -> dict[HarmThreshold, float]:
        """The threshold of each harm to a column that is limited."""
        every: dict[HarmThreshold, float] = {
            "loss": self.column_loss, "distance": self.distance, "vanished": self.vanished, "tail": self.tail,
            "constant": CONSTANT, "total": self.total,
        }  # fmt: skip
        open_ = {"tail": self.tail >= 100, "constant": self.constant}
        return {harm: most for harm, most in every.items() if not open_.get(harm)}

    def severity(self, figures: Mapping[str, float]) -> float:
        """The harm to a column that is nearest to its threshold, or farthest beyond it, as a part of the threshold.

        Parameters
        ----------
        figures : mapping
            HarmThreshold → per cent.

        Returns
        -------
        float
        """
        return max(figures.get(harm, 0.0) / most for harm, most in self.limits.items())

    def ruins(self, columns: Mapping[str, Mapping[str, float]]) -> tuple[Ruin, ...]:
        """What is beyond a threshold, worst first.

        Parameters
        ----------
        columns : mapping
            Column → harm → per cent.

        Returns
        -------
        tuple of Ruin
        """
        found = [
            Ruin(name, harm, figures[harm], most)
            for name, figures in columns.items()
            for harm, most in self.limits.items()
            if figures.get(harm, 0.0) > most
        ]
        return tuple(sorted(found, key=lambda ruin: (-ruin.found / ruin.at_most, ruin.column, ruin.harm)))


def ruined_columns(ruins: Iterable[Ruin]) -> tuple[str, ...]:
    """The ruined columns, worst first, each once."""
    return tuple(dict.fromkeys(ruin.column for ruin in ruins))


# -- The utility card: what a masking did to a file, what was harmed most first.

HarmKind = Literal[
    "loss", "distance", "vanished", "tail", "constant", "total", "filled", "blanked", "association", "rule", "use"
]

PAIRED = 16
"""Largest number of columns whose pairs are compared."""
SAMPLE = 1000
"""Records by which the general utility is measured."""
ANALYSES = 200
"""Analyses that a card draws."""
NOTICED = 1.0
"""Harms below this many per cent do not open a card."""


@dataclass(frozen=True)
class Harm:
    """One thing that was harmed."""

    # what happened: "loss", "distance", "vanished", "tail", "constant" (one value is left), "total", "filled",
    # "blanked", "association", "rule" or "use"
    kind: HarmKind
    columns: tuple[str, ...]  # where; two columns for an association, the name of a rule or of a use
    size: float  # per cent: of the information, of the records, of a use, or 100 times the change of an association


@dataclass(frozen=True)
class UseResult:
    """A declared use: how much its analysis changed, how much it may, and what the analysis gave."""

    title: str  # name of the use and of its measure
    value: float | None  # how much it changed; None where it could not be measured
    tolerance: float  # how much it may
    measure: str = ""
    # what the measure counted, such as the overlap of intervals or the accuracy of a classifier
    counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleHarm:
    """An edit rule: published records that kept it before and break it now."""

    title: str  # name of the rule
    created: int  # violations that the masking made
    records: int  # published records

    @property
    def share(self) -> float:
        """Violations made, per cent of the published records."""
        return 100.0 * self.created / max(self.records, 1)


@dataclass(frozen=True, repr=False)
class UtilityCard:
    """What a masking did to a file; figures of columns, counts and per cent, never a value of a record.

    Attributes
    ----------
    records, released : int
        Records of the original and of the released file.
    columns : tuple of ColumnHarm
        Every published column that changed, the most harmed first.
    pairs : tuple of AssociationChange
        Pairs of columns, the largest change first.
    general : tuple of PropensityScore
        pMSE by each model that could be fitted, with its null expectation.
    uses : tuple of UseResult
        Declared uses.
    rules : tuple of RuleHarm
        Edit rules.
    ruins : tuple of Ruin
        Columns beyond a threshold, worst first.
    estimates : tuple of ColumnEstimates
        Every published column before and after, in the order of the table.
    weighted : WeightedComparison or None
        The same with the sampling weight and standard errors of the sample design; None where no column has the role
        weight.
    analyses : AnalysesKept or None
        Analyses drawn at random that no search saw; None where the table allows none, or none was wanted.
    beside : mapping of str to AnalysesKept
        The same analyses on other masked files, by name, such as plain MDAV.
    drawn_from : int
        Records of the whole file, where only some of them were compared; 0 where all were.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> card = crypsis.utility_card(original, masked)
    >>> card.columns[0].name, card.harms[0].kind
    ('town', 'association')
    """

    records: int
    released: int
    columns: tuple[ColumnHarm, ...]
    pairs: tuple[AssociationChange, ...]
    general: tuple[PropensityScore, ...]
    uses: tuple[UseResult, ...]
    rules: tuple[RuleHarm, ...]
    ruins: tuple[Ruin, ...]
    estimates: tuple[ColumnEstimates, ...] = ()
    weighted: WeightedComparison | None = None
    analyses: AnalysesKept | None = None
    beside: Mapping[str, AnalysesKept] = field(default_factory=dict)
    drawn_from: int = 0

    @property
    def harms(self) -> tuple[Harm, ...]:
        """What was harmed, the greatest first: sizes of at least one per cent, uses beyond their tolerance, rules."""
        found = [harm for column in self.columns for harm in _harms(column)]
        found += [Harm("association", (p.first, p.second), 100.0 * p.change) for p in self.pairs]
        found = [harm for harm in found if harm.size >= NOTICED]
        found += [Harm("rule", (rule.title,), rule.share) for rule in self.rules if rule.created]
        found += [Harm("use", (u.title,), u.value) for u in self.uses if u.value is not None and u.value > u.tolerance]
        return tuple(sorted(found, key=lambda h: (-h.size, h.kind, h.columns)))

    def __repr__(self) -> str:
        kept = (
            ""
            if self.analyses is None
            else f", {int(self.analyses.kept + 1e-9)} of {self.analyses.analyses} analyses kept"
        )
        return f"UtilityCard({self.released} of {self.records} records, {len(self.harms)} harms{kept})"

    def __str__(self) -> str:
        """What was harmed, the greatest first, and how many analyses keep their answer."""
        text = draw_text_table(*self._cells())
        return f"{text}\n\n{self._kept}" if self._kept else text

    @property
    def _kept(self) -> str:
        """How many analyses keep their answer; empty where none was drawn."""
        if self.analyses is None:
            return ""
        return (
            f"{int(self.analyses.kept + 1e-9)} of {self.analyses.analyses} analyses drawn at random keep their answer"
        )

    def _repr_html_(self) -> str:
        return draw_html_table(*self._cells())

    def _cells(self) -> tuple[tuple[str, ...], list[tuple[object, ...]], str]:
        rows: list[tuple[object, ...]] = [
            (each.kind, " and ".join(each.columns), float(each.size)) for each in self.harms
        ]
        caption = f"what was harmed in {self.released} of {self.records} records, worst first"
        return ("what", "where", "size"), rows, caption


def utility_card(
    original: Table,
    masked: Table,
    useful: Usefulness | None = None,
    uses: Sequence[UseResult] = (),
    rules: Sequence[RuleHarm] = (),
    *,
    general: Sequence[Model] = ("pairs", "cart"),
    analyses: int = ANALYSES,
    seed: int = 1,
    beside: Mapping[str, Table] | None = None,
) -> UtilityCard:
    """Compare a masked table with its original, column by column, pair by pair, and as a whole.

    Parameters
    ----------
    original, masked : Table
        Row by row the same records.
    useful : Usefulness, optional
        When a column is ruined.
    uses : sequence of UseResult
        Declared uses, measured before.
    rules : sequence of RuleHarm
        Edit rules, counted before.
    general : sequence of {"main", "pairs", "cart"}
        Models by which the general utility is measured, which takes longest; empty: it is not.
    analyses : int
        How many analyses are drawn at random.
    seed : int
        Of the draw; a search never draws the same, whatever its seed.
    beside : mapping of str to Table, optional
        Other masked versions of the original, by name, of which the same analyses are asked.

    Returns
    -------
    UtilityCard

    Examples
    --------
    >>> people = crypsis.example(60)
    >>> crypsis.utility_card(people, people).harms
    ()
    """
    useful = useful or Usefulness()
    names = _published_columns(original, masked)
    harms = Distributions(original).harms(masked, names)
    changed = [h for h in harms if h.loss or h.distance or h.filled or h.blanked or h.changed]
    figures = {h.name: h.figures for h in changed}
    ranked = sorted(changed, key=lambda h: (-useful.severity(h.figures), h.name))
    asked = Analyses(original, analyses, seed, stream="report") if analyses else None
    asked = asked if asked is not None and asked.analyses else None
    quasi = tuple(name for name in original.quasi_identifiers if name in names)
    paired = [*quasi, *(name for name in names if name not in quasi)][:PAIRED]
    return UtilityCard(
        len(original),
        int(masked.kept.sum()),
        tuple(ranked),
        association_changes(original, masked, paired),
        general_utility_of_card(original, masked, general),
        tuple(uses),
        tuple(rules),
        useful.ruins(figures),
        column_estimates(original, masked, names),
        weighted_estimates(original, masked, names, useful.income),
        asked.compare(masked) if asked else None,
        {name: asked.compare(table) for name, table in (beside or {}).items()} if asked else {},
    )


def _harms(column: ColumnHarm) -> list[Harm]:
    name, of = (column.name,), 100.0 / max(column.records, 1)
    tail = max((abs(t.before - t.after) for t in column.tails if t.point in (5.0, 95.0)), default=0)
    return [
        Harm("loss", name, 0.0 if column.constant else min(column.loss, 100.0)),
        Harm("distance", name, column.moved),
        Harm("vanished", name, column.vanished_share),
        Harm("tail", name, of * tail),
        Harm("constant", name, 100.0 if column.constant else 0.0),
        Harm("total", name, column.total_change),
        Harm("filled", name, of * column.filled),
        Harm("blanked", name, of * column.blanked),
    ]


def _published_columns(original: Table, masked: Table) -> list[str]:
    hidden = set(original.names_by_role(*UNPUBLISHED))
    return [name for name in original.names if name in masked.names and name not in hidden]


def general_utility_of_card(
    original: Table, masked: Table, models: Sequence[Model] = ("pairs", "cart")
) -> tuple[PropensityScore, ...]:
    """General utility for the utility card: pMSE over the quasi-identifiers or all columns, by every model at hand.

    `original`, `masked`: row by row the same records; returns without the tree where scikit-learn is not
    installed; empty where no record is released.
    """
    published = _published_columns(original, masked)
    names = tuple(name for name in original.quasi_identifiers if name in published) or tuple(published)
    found = []
    for model in models:
        try:
            found.append(propensity_score(original, masked, names, model, SAMPLE))
        except TableError:  # no scikit-learn, no released record
            continue
    return tuple(found)
