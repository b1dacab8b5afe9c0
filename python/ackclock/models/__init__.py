"""Formulas of the papers, which need no run; the functions take arrays.

`laws` has any window law, by quadrature, and `convergence` its windows from loss to loss;
`responses`, `unfairness` and `periods` have the closed forms; `fluid`, `illinois`, `matrix`, `fit`,
`smoothness`, `timeouts` and `transients` those of one paper each.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
