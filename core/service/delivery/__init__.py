"""Delivering one answer, on every platform."""
