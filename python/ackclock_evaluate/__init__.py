"""What a new congestion control must show: criteria, verdicts beside baselines, adversaries."""
