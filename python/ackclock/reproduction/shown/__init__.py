"""What is shown of claims: classes, verdicts in words, figures and pages."""
