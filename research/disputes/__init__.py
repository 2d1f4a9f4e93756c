"""Seeded disputes between two sources, and look-alikes that are none: whether answers say so."""
