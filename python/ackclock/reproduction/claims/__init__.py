"""The claims of papers: records, the numbers that they compare, and their judge."""
