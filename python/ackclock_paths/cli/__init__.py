"""The verbs of real paths: link, kernel and measure."""
