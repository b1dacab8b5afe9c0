"""The reproduction of artefacts of papers; it knows no paper."""
