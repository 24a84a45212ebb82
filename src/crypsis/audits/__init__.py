"""Audits: what a published file reveals, over all its columns, whatever the plan declares."""
