"""A congestion-control laboratory: simulate, compare and explain congestion controls.

>>> import ackclock
>>> scenario = ackclock.scenario(
...     ackclock.dumbbell(rate="10 Mbit/s", delay="20 ms", queue="50 packets"),
...     ackclock.flow("reno", rtt="50 ms"),
...     ackclock.flow("illinois", rtt="50 ms"),
...     duration="20 s",
... )
>>> run = ackclock.simulate(scenario)
>>> run.flows["controller"].to_list()
['reno', 'illinois']
>>> run.windows.columns[:4]
['time_s', 'flow', 'window', 'ssthresh']
>>> figure = run.plot.window()

The verbs of the command line are also functions: `compare`, `evaluate`, `sweep`, `plot`, `predict`,
`reproduce`, `diff`. Everything is imported when it is first used, including `metrics`, `models`,
`predictions`, `comparison`, `runs` and `sweeps`:

>>> float(ackclock.metrics.jain([1.0, 1.0]))
1.0
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
