"""Verification: check each claim of a draft against its evidence, repair or strike what fails, cite the rest."""
