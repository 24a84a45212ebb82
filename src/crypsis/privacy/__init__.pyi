"""Public names of `crypsis.privacy`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.privacy.anonymity import (
    AlphaKAnonymity as AlphaKAnonymity,
    KAnonymity as KAnonymity,
)
from crypsis.privacy.closeness import TCloseness as TCloseness
from crypsis.privacy.diversity import LDiversity as LDiversity
from crypsis.privacy.likeness import BetaLikeness as BetaLikeness
from crypsis.privacy.model import (
    PrivacyModel as PrivacyModel,
    Verdict as Verdict,
    models as models,
)
from crypsis.privacy.presence import DeltaPresence as DeltaPresence
from crypsis.privacy.households import HouseholdKAnonymity as HouseholdKAnonymity
from crypsis.privacy.persons import PersonKAnonymity as PersonKAnonymity
from crypsis.privacy.population import (
    KMap as KMap,
    HighestRisk as HighestRisk,
    AverageRisk as AverageRisk,
    RecordsAtRisk as RecordsAtRisk,
    UniqueInPopulation as UniqueInPopulation,
)
