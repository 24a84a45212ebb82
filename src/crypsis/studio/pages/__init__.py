"""The five pages: what each shows, and what can be done on it."""
