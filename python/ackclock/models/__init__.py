"""Formulas of the papers, which need no run; the functions take arrays.

`laws` has any window law, by quadrature, and `convergence` its windows from loss to loss;
`responses`, `unfairness` and `periods` have the closed forms; `fluid`, `illinois`, `matrix`, `fit`,
`smoothness`, `timeouts` and `transients` those of one paper each.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.models import convergence as convergence
    from ackclock.models import fit as fit
    from ackclock.models import fluid as fluid
    from ackclock.models import illinois as illinois
    from ackclock.models import laws as laws
    from ackclock.models import matrix as matrix
    from ackclock.models import periods as periods
    from ackclock.models import responses as responses
    from ackclock.models import smoothness as smoothness
    from ackclock.models import timeouts as timeouts
    from ackclock.models import transients as transients
    from ackclock.models import unfairness as unfairness
else:
    from ackclock._lazy import on_demand

    __getattr__, __dir__ = on_demand(
        __name__,
        (
            "convergence",
            "fit",
            "fluid",
            "illinois",
            "laws",
            "matrix",
            "periods",
            "responses",
            "smoothness",
            "timeouts",
            "transients",
            "unfairness",
        ),
    )
