"""The command line: one module for each family of commands. Each registers its own and imports heavy modules late."""
