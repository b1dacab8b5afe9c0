"""The names of objectives and genomes, without an import of their measures.

Shells complete them. A test compares them with the objectives and genomes.
"""

OBJECTIVES = ("utilisation", "delay", "starvation", "harm", "loss", "stall", "unused")
GENOMES = ("capacity", "pulses", "flow-delay", "delay", "loss", "path")
