"""Verification: hold each claim of a draft against its evidence, repair or strike what fails, and cite what holds."""
