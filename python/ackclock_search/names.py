"""The names of objectives and genomes, known without importing what they measure.

Shells complete them. A test compares them with what they name.
"""

OBJECTIVES = ("utilisation", "delay", "starvation", "harm", "loss", "stall", "unused")
GENOMES = ("capacity", "pulses", "flow-delay", "delay", "loss", "path")
