"""`crypsis schema`: the JSON Schema of a plan."""

from __future__ import annotations

from crypsis.cli.output import say_json


def schema() -> None:
    """Print the JSON Schema of a plan, for editors."""
    from crypsis.plan.document import schema as plan_schema

    say_json(plan_schema())
