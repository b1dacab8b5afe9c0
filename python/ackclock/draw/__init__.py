"""The appearance of pictures and pages."""
