"""What Footnote knows of conversations, knowledge, evidence and answers. Imports no vendor."""
