"""How pictures and pages look."""
