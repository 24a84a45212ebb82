"""Masking of mixed files: values exchanged between records until attacks find few of them."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
