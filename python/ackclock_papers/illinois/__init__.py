"""TCP-Illinois: S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), 417-440."""
