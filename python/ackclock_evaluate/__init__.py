"""The evaluation of a new congestion control: criteria, verdicts against baselines, adversaries."""
