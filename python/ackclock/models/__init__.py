"""Formulas of the papers, as functions of arrays; none of them needs a run.

`laws` solves any window law by quadrature, and `convergence` follows its windows from loss to loss.
`responses`, `unfairness` and `periods` hold the closed forms. `fluid`, `illinois`, `matrix`, `fit`,
`smoothness`, `timeouts` and `transients` each hold the formulas of one paper.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
