"""Public names of `crypsis.sensitivity`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.sensitivity.procedure import (
    Anova as Anova,
    Comparison as Comparison,
    Effect as Effect,
    SensitivityFindings as SensitivityFindings,
    Stage as Stage,
    analyse as analyse,
    anova as anova,
    compare as compare,
)
from crypsis.sensitivity.trials import (
    Design as Design,
    Factor as Factor,
    PartitionerSubject as PartitionerSubject,
    Results as Results,
    SearchSubject as SearchSubject,
    Subject as Subject,
    Trial as Trial,
    run_design as run_design,
)
