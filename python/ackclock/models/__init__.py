"""Formulas of the papers that need no run; they know no trace."""
