"""The five pages of the studio."""
