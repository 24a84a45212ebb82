"""Public names of `crypsis.searches.households`, for type checkers and for `crypsis.lazy_imports`."""

from crypsis.searches.households.household_search import HouseholdSearch as HouseholdSearch
