"""Artefacts of papers, made again: it knows no paper."""
