"""The command line: one module for each family of commands; each registers its own and imports what is heavy late."""
