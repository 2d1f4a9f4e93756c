"""The reasoner that asks a language model on any OpenAI-compatible endpoint."""
