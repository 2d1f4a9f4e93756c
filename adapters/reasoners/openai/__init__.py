"""Reasoner that uses a language model on any OpenAI-compatible endpoint."""
