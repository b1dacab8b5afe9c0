"""The presentation of claims: classes, verdicts in words, figures and pages."""
