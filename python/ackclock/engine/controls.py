"""One's own congestion controls: a Python class that scenarios can name beside the built-in ones.

>>> import ackclock
>>> class Gentle(ackclock.Control):
...     "As Reno, but a loss event takes only a fifth of the window."
...     def __init__(self, start: ackclock.Start, increase: float = 1.0) -> None:
...         super().__init__(start)
...         self.increase = increase
...     def on_ack(self, ack: ackclock.Ack) -> None:
...         if not self.slow_start(ack):
...             self.window += self.increase * ack.growth / self.window
...     def on_loss(self, loss: ackclock.Loss) -> None:
...         self.window = self.ssthresh = max(2.0, 0.8 * self.window)
>>> ackclock.register("gentle", Gentle)
>>> run = ackclock.simulate(
...     ackclock.scenario(
...         ackclock.dumbbell(rate="10 Mbit/s", delay="20 ms"),
...         ackclock.flow("gentle", rtt="50 ms", params={"increase": 0.5}),
...         duration="5 s",
...     )
... )
>>> run.flows["controller"].item()
'gentle'
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
import sys
import typing
from pathlib import Path
from typing import Any, ClassVar

from ackclock import _native
from ackclock._native import Ack, Loss, ScenarioError, Start, Timeout
from ackclock.engine import followed

__all__ = [
    "Ack", "Control", "Loss", "Start", "Timeout", "files", "fingerprint", "follows", "load",
    "load_missing", "register",
]  # fmt: skip


class Control:
    """A base for controls written in Python: slow start and timeouts as Reno has them.

    A control need not derive from it. What the engine asks of a class: that it can be called with
    a `Start` and its parameters by name, has the methods ``on_ack``, ``on_loss``, ``on_timeout``,
    and an attribute ``window`` (packets, at least 1). It may have ``ssthresh`` (packets, shown in
    the trace), ``pacing_rate`` (packets per second, or None) and the methods ``on_recovered``,
    ``on_undo``, ``on_idle``, which are called with the time in seconds, and ``on_moderated``, which
    is called with packets.

    Attributes
    ----------
    window : float
        The congestion window, packets. Read after every call.
    ssthresh : float
        The slow-start threshold, packets.
    before : tuple of float
        Window and ssthresh before the last loss event or first timeout, packets; noted by the
        engine.
    pacing_rate : float or None
        Packets per second at which packets are sent, or None for as soon as the window allows.
        Read after every call.
    internals : tuple of str
        Of the class: names of attributes (numbers) that the trace is to hold.
    wants_rate : bool
        Of the class: whether `Ack.delivery_rate` is to be measured.
    """

    internals: ClassVar[tuple[str, ...]] = ()
    wants_rate: ClassVar[bool] = False
    before: tuple[float, float] = (1.0, math.inf)
    pacing_rate: float | None = None

    def __init__(self, start: Start) -> None:
        self.window = start.window
        self._initial_window = start.window
        self.ssthresh = start.ssthresh

    def on_ack(self, ack: Ack) -> None:
        """Grow, or not: called for every acknowledgement.

        Parameters
        ----------
        ack : Ack
            What arrived.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method on_ack(self, ack)")

    def on_loss(self, loss: Loss) -> None:
        """Give way: called once per loss event.

        Parameters
        ----------
        loss : Loss
            When, and whether it was an ECN mark.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method on_loss(self, loss)")

    def on_timeout(self, timeout: Timeout) -> None:
        """Begin again with one packet (RFC 5681, section 3.1).

        Parameters
        ----------
        timeout : Timeout
            When, and whether the packet timed out for the first time.
        """
        if timeout.first:
            self.ssthresh = max(2.0, self.window / 2)
        self.window = 1.0

    def on_idle(self, now_s: float) -> None:  # noqa: ARG002
        """Begin again with the initial window after a pause (RFC 5681, section 4.1).

        Parameters
        ----------
        now_s : float
            When, seconds.
        """
        self.window = min(self.window, self._initial_window)

    def on_undo(self, now_s: float) -> None:  # noqa: ARG002
        """Take the last cut back: the loss that it was for has turned out to be none (RFC 4015).

        Parameters
        ----------
        now_s : float
            When, seconds.
        """
        self.window, self.ssthresh = self.before

    def on_moderated(self, window: float) -> None:
        """Let the window fall to what was in flight when a recovery ended.

        Parameters
        ----------
        window : float
            Packets.
        """
        self.window = max(1.0, min(self.window, window))

    def grow(self, ack: Ack) -> float:
        """Grow by slow start, up to ssthresh.

        Parameters
        ----------
        ack : Ack
            What arrived.

        Returns
        -------
        float
            Packets of growth that are left for congestion avoidance; 0 in slow start.
        """
        if self.window >= self.ssthresh:
            return ack.growth
        room = self.ssthresh - self.window
        if ack.growth < room:
            self.window += ack.growth
            return 0.0
        self.window = self.ssthresh
        return ack.growth - room

    def slow_start(self, ack: Ack) -> bool:
        """Grow by a packet per acknowledged packet while the window is below ssthresh.

        Parameters
        ----------
        ack : Ack
            What arrived.

        Returns
        -------
        bool
            Whether this is slow start, so that nothing else is to be added for this ACK.
        """
        if self.window >= self.ssthresh:
            return False
        self.window = min(self.window + ack.growth, self.ssthresh)
        return True


METHODS = ("on_ack", "on_loss", "on_timeout")
LIBRARY = re.compile(r".+\.(?:so|dylib|dll):[\w-]+")
"""A control of a shared library: `target/release/libmine.so:mine`."""
CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""A class of a module: `package.module:Class`."""

_registered: dict[str, str] = {}
"""Fingerprints of what was registered, by name."""
_follows: dict[str, list[Path]] = {}
"""Files that it follows from, by name."""


def register(name: str, control: type[Any]) -> None:
    """Give a control written in Python a name that scenarios can use, in this process.

    Parameters
    ----------
    name : str
        Not that of a built-in control; an earlier registration is replaced.
    control : type
        The class; see `Control` for what it must have. Its parameters are those of its constructor
        after the `Start`: with a default that is a number, a flag, or a word of a ``Literal``.

    Raises
    ------
    TypeError
        When the class lacks a method, or a parameter has no such default.
    ValueError
        When the name is built in.
    """
    if not isinstance(control, type):
        raise TypeError(f"{name}: a control is a class, not {control!r}")
    missing = [method for method in METHODS if not callable(getattr(control, method, None))]
    if missing:
        raise TypeError(f"{name}: the class {control.__name__} lacks {', '.join(missing)}")
    found = []
    signature = list(inspect.signature(control).parameters.values())
    hints = typing.get_type_hints(control.__init__) if signature else {}
    for parameter in signature[1:]:
        if parameter.default is parameter.empty:
            raise TypeError(f"{name}: the parameter {parameter.name} needs a default")
        hint = hints.get(parameter.name)
        words = list(typing.get_args(hint)) if typing.get_origin(hint) is typing.Literal else []
        found.append((parameter.name, parameter.default, words))
    about = f"{control.__module__}.{control.__qualname__}"
    _native.register(name, about, control, found, list(getattr(control, "internals", ())))
    _note(name, control)


def _note(name: str, control: type[Any], brought_in: typing.Iterable[str] = ()) -> None:
    """Note what a control follows from: files and, in a notebook, its own source.

    What it follows from besides, such as weights, it says by the attribute ``follows_from``.
    """
    module = sys.modules.get(control.__module__)
    more = b""
    if not getattr(module, "__file__", None):
        more = followed.source_of(control)
        brought_in = {*brought_in, *followed.seen_by(control, more)}
    _follows[name] = followed.of_class(control, brought_in)
    more += getattr(control, "follows_from", b"")
    _registered[name] = followed.digest(_follows[name], more)


def load(reference: str) -> None:
    """Load a control that is named as ``module:Class`` or ``library.so:name``, under that name.

    Parameters
    ----------
    reference : str
        A module that Python finds from the working directory or its own path, and a class in it; or
        the path of a shared library, and a control that it lists.

    Raises
    ------
    ScenarioError
        When it cannot be loaded or is not a control; the message says what to do.
    """
    place, _, name = reference.rpartition(":")
    if LIBRARY.fullmatch(reference):
        _load_library(place, name)
    else:
        _load_class(place, name)


def _load_library(file: str, name: str) -> None:
    reference = f"{file}:{name}"
    if not Path(file).is_file():
        raise ScenarioError(
            f"{reference}: file not found: {file}; build it with cargo build --release"
        )
    try:
        names = _native.load_library(file)
    except ValueError as error:
        raise ScenarioError(f"{reference}: {error}") from error
    there = [one.rpartition(":")[2] for one in names]
    if name not in there:
        raise ScenarioError(f"{reference}: {file} has no control {name}; it has {', '.join(there)}")
    _follows[reference] = followed.of_library(Path(file))
    _registered[reference] = followed.digest(_follows[reference])


def _load_class(module: str, name: str) -> None:
    reference = f"{module}:{name}"
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    before = set(sys.modules)
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(error.name):
            raise ScenarioError(
                f"{reference}: module not found: {module}; run in the directory of "
                f"{module.split('.')[0]}.py or install it"
            ) from None
        raise ScenarioError(f"{reference}: cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:
        raise ScenarioError(f"{reference}: cannot be imported: {_told(error)}") from error
    if name not in vars(imported):
        classes = [one for one, value in vars(imported).items() if isinstance(value, type)]
        raise ScenarioError(
            f"{reference}: {module} has no class {name}; it has {', '.join(classes) or 'none'}"
        )
    try:
        register(reference, vars(imported)[name])
    except (TypeError, ValueError) as error:
        raise ScenarioError(str(error)) from error
    except (Exception, SystemExit) as error:
        # Annotations and metaclasses run code, too.
        raise ScenarioError(f"{reference}: cannot be read: {_told(error)}") from error
    # A class may have been made elsewhere of what stands here.
    _note(reference, vars(imported)[name], {imported.__name__, *(set(sys.modules) - before)})


def _told(error: BaseException) -> str:
    """Give an exception of foreign code as one line."""
    words = f"sys.exit({error})" if isinstance(error, SystemExit) else str(error)
    return " ".join(f"{type(error).__name__}: {words}".split())


def load_missing(names: typing.Sequence[str]) -> None:
    """Load the controls that are named by module or library and are not there yet.

    Parameters
    ----------
    names : sequence of str
        Controls that a scenario names.

    Raises
    ------
    ScenarioError
        As `load`.
    """
    for name in names:
        if name not in _registered and (CLASS.fullmatch(name) or LIBRARY.fullmatch(name)):
            load(name)


def fingerprint(names: typing.Iterable[str]) -> str:
    """Give a digest of the code of the controls that are not built in.

    Parameters
    ----------
    names : iterable of str
        Controls that a scenario names, loaded.

    Returns
    -------
    str
        Changes when one of them does; empty if all are built in.
    """
    own = sorted(set(names) & _registered.keys())
    return "".join(f"{name}={_registered[name]} " for name in own)


def files(names: typing.Iterable[str]) -> list[Path]:
    """Return the files that controls follow from.

    Parameters
    ----------
    names : iterable of str
        As for `fingerprint`.

    Returns
    -------
    list of Path
        Sorted: the modules of their classes and whatever these import from outside of the standard
        library and site-packages; libraries with what they link from their own folders. Empty when
        all controls are built in.
    """
    every = {file for name in set(names) for file in _follows.get(name, ())}
    return sorted(every - {Path(__file__).resolve()})


def follows(names: typing.Iterable[str]) -> str:
    """Say which files the numbers of controls follow from.

    Parameters
    ----------
    names : iterable of str
        As for `fingerprint`.

    Returns
    -------
    str
        A sentence; empty when all controls are built in. Files below the working directory are
        named as from there.
    """
    here = Path.cwd().resolve()
    words = [
        str(file.relative_to(here) if file.is_relative_to(here) else file) for file in files(names)
    ]
    return f"The numbers follow from {', '.join(words)}." if words else ""
