"""Statistics: intervals over runs, comparisons, and when more runs are needed.

Pure functions of numbers, and the only statistics behind claims, answers and cells. Nothing else
has tests and distributions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
