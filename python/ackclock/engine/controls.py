"""User-defined congestion controls: Python classes that scenarios can name like built-in controls.

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

import contextlib
import importlib
import inspect
import os
import re
import sys
import typing
from pathlib import Path

from ackclock import _native
from ackclock._native import Ack, Loss, Lost, RateSample, Start, Timeout
from ackclock.engine import base
from ackclock.engine.base import Control
from ackclock.errors import ScenarioError

if typing.TYPE_CHECKING:
    from ackclock.engine import followed

__all__ = [
    "Ack",
    "Control",
    "Loss",
    "Lost",
    "RateSample",
    "Start",
    "Timeout",
    "files",
    "fingerprint",
    "follows",
    "load",
    "load_missing",
    "register",
]


METHODS = ("on_ack", "on_loss", "on_timeout")
LIBRARY = re.compile(r".+\.(?:so|dylib|dll):[\w-]+")
"""A control of a shared library: `target/release/libmine.so:mine`."""
CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""A class of a module: `package.module:Class`."""
LABELLED = re.compile(r"(?:(?P<label>[A-Za-z][\w.+-]*)=)?(?P<origin>[^=].*):(?P<item>[^:]+)")
"""A reference to either, which may begin with its label: `Gentle=target/release/libmine.so:mine`."""

_labels: dict[str, str] = {}
"""References by the labels that they begin with."""
_classes: dict[str, type[object]] = {}
"""The classes of controls that are named by `register` alone, by name."""
_registered: dict[str, str] = {}
"""Fingerprints of the registered controls, by name."""
_follows: dict[str, followed.Dependencies] = {}
"""The dependencies of each control, by name."""
_contents: dict[str, str] = {}
"""Digests of the dependencies at the time of loading, by name."""


def register(name: str, control: type[object]) -> None:
    """Register a control written in Python under a name that scenarios can use, in this process.

    Parameters
    ----------
    name : str
        A name that is not built in; an earlier registration is replaced.
    control : type
        The class; see `Control` for its interface. Its parameters are those of its constructor
        after the `Start`; each has a default that is a number, a flag, or a word of a
        ``Literal``.

    Raises
    ------
    TypeError
        If the class lacks a method, or a parameter has no such default.
    ValueError
        If the name is built in.

    Examples
    --------
    >>> import ackclock
    >>> class Small(ackclock.Control):
    ...     "A window of four packets."
    ...     def on_ack(self, ack: ackclock.Ack) -> None:
    ...         self.window = 4.0
    >>> ackclock.register("small", Small)
    >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets")
    >>> run = ackclock.simulate(ackclock.scenario(path, ackclock.flow("small"), duration="2 s"))
    >>> run.flows["max_window"].item()
    10.0
    """
    if not isinstance(control, type):
        raise TypeError(f"{name}: a control is a class, not {control!r}")
    missing = [method for method in METHODS if not callable(getattr(control, method, None))]
    if missing:
        raise TypeError(f"{name}: the class {control.__name__} lacks {', '.join(missing)}")
    parameters = []
    signature = list(inspect.signature(control).parameters.values())
    hints = typing.get_type_hints(control.__init__) if signature else {}
    for parameter in signature[1:]:
        if parameter.default is parameter.empty:
            raise TypeError(f"{name}: the parameter {parameter.name} needs a default")
        hint = hints.get(parameter.name)
        words = list(typing.get_args(hint)) if typing.get_origin(hint) is typing.Literal else []
        parameters.append((parameter.name, parameter.default, words))
    about = f"{control.__module__}.{control.__qualname__}"
    _native.register(name, about, control, parameters, list(getattr(control, "internals", ())))
    _labels.pop(name, None)
    if ":" not in name:
        _classes[name] = control
    _note(name, control)


def is_own(name: str) -> bool:
    """Return whether a control is not built in: named by module or library, or registered."""
    return ":" in name or name in _classes


Registrations = list[tuple[str, str, str]]
"""Name, module and class of registered controls."""


def registrations(names: typing.Iterable[str]) -> Registrations | None:
    """Return how another process finds registered controls; None if it cannot import a class.

    It cannot import a class of a script, a notebook or a function without running that code again.
    """
    own = [(name, _classes[name]) for name in dict.fromkeys(names) if name in _classes]
    for _, control in own:
        module = sys.modules.get(control.__module__)
        is_there = module is not None and vars(module).get(control.__qualname__) is control
        if not is_there or getattr(module, "__spec__", None) is None:
            return None
    return [(name, control.__module__, control.__qualname__) for name, control in own]


def register_all(given: Registrations) -> None:
    """Register controls that another process has."""
    for name, module, qualified in given:
        register(name, getattr(importlib.import_module(module), qualified))


def _note(name: str, control: type[object], brought_in: typing.Iterable[str] = ()) -> None:
    """Note the files that a control depends on and, in a notebook, its own source.

    A control names further content that it depends on, such as weights, in its attribute
    ``follows_from``.
    """
    from ackclock.engine import followed

    module = sys.modules.get(control.__module__)
    more = b""
    if not getattr(module, "__file__", None):
        more = followed.source_of(control)
        brought_in = {*brought_in, *followed.seen_by(control, more)}
    _follows[name] = followed.of_class(control, brought_in)
    more += getattr(control, "follows_from", b"")
    _registered[name] = _follows[name].digest(more)
    _contents[name] = _follows[name].digest()


def load(reference: str) -> None:
    """Load a control that is named as ``module:Class`` or ``library.so:name``, under that name.

    Parameters
    ----------
    reference : str
        A module that Python finds from the working directory or its own path, and a class in
        it; or the path of a shared library, and a control that it lists. A label in front of it,
        as in ``Gentle=module:Class``, is the name of the control in results.

    Raises
    ------
    ScenarioError
        If it cannot be loaded or is not a control; the message says what to do.
    """
    label, origin, name = _parts(reference)
    if label:
        _check_label(reference, label)
    if LIBRARY.fullmatch(f"{origin}:{name}"):
        _load_library(reference, origin, name)
    else:
        _load_class(reference, origin, name)
    if label:
        _labels[label] = reference


def _parts(reference: str) -> tuple[str, str, str]:
    """Return the label of a reference, which may be empty, its module or library, and the name in it."""
    parts = LABELLED.fullmatch(reference)
    return (parts["label"] or "", parts["origin"], parts["item"]) if parts else ("", reference, "")


def _check_label(reference: str, label: str) -> None:
    taken = "a built-in" if _native.is_built_in(label) else "a registered" if label in _registered else ""
    if taken:
        raise ScenarioError(f"{reference}: {label} is {taken} control; choose another label")


def origin_of(name: str) -> str:
    """Return the module or the library that a control of one's own is named by; empty for others."""
    _, origin, item = _parts(_labels.get(name, name))
    return origin if item else ""


def label_of(name: str) -> str:
    """Return the name of a control in results: the label of its reference, or else its own name."""
    return _parts(name)[0] or name


def labelled(names: typing.Sequence[str]) -> tuple[str, ...]:
    """Load the controls that are missing, and return their names in results, without repetitions.

    Raises ScenarioError if two controls have the same label, and for the same reasons as `load`.
    """
    references: dict[str, str] = {}
    load_missing(names)
    for name in names:
        reference = _labels.get(name, name)
        other = references.setdefault(label_of(name), reference)
        if other != reference:
            raise ScenarioError(f"{other} and {reference} have one label; choose another for one of them")
    return tuple(references)


def _load_library(reference: str, file: str, name: str) -> None:
    from ackclock.engine import followed

    if not Path(file).is_file():
        raise ScenarioError(f"{reference}: file not found: {file}; build it with cargo build --release")
    try:
        names = _native.load_library(file, reference.removesuffix(f"{file}:{name}"))
    except ValueError as error:
        raise ScenarioError(f"{reference}: {error}") from error
    there = [path.rpartition(":")[2] for path in names]
    if name not in there:
        raise ScenarioError(f"{reference}: {file} has no control {name}; it has {', '.join(there)}")
    _follows[reference] = followed.Dependencies(tuple(followed.of_library(Path(file))))
    _registered[reference] = _contents[reference] = _follows[reference].digest()


def _load_class(reference: str, module: str, name: str) -> None:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    before = set(sys.modules)
    try:
        # Its output must not be mixed with the standard output of a program.
        with contextlib.redirect_stdout(sys.stderr):
            imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(error.name):
            raise ScenarioError(
                f"{reference}: module not found: {module}; run in the directory of "
                f"{module.split('.')[0]}.py or install it"
            ) from None
        raise ScenarioError(f"{reference}: cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:
        raise ScenarioError(f"{reference}: cannot be imported: {_one_line(error)}") from error
    if name not in vars(imported):
        classes = [attribute for attribute, value in vars(imported).items() if isinstance(value, type)]
        raise ScenarioError(
            f"{reference}: {module} has no class {name}; it has {', '.join(classes) or 'none'}"
        )
    try:
        register(reference, vars(imported)[name])
    except (TypeError, ValueError) as error:
        raise ScenarioError(str(error)) from error
    except (Exception, SystemExit) as error:
        # Annotations and metaclasses also run code.
        raise ScenarioError(f"{reference}: cannot be read: {_one_line(error)}") from error
    # A class defined elsewhere may use definitions of this module.
    _note(reference, vars(imported)[name], {imported.__name__, *(set(sys.modules) - before)})


def _one_line(error: BaseException) -> str:
    """Format a user's exception as one line."""
    words = f"sys.exit({error})" if isinstance(error, SystemExit) else str(error)
    return " ".join(f"{type(error).__name__}: {words}".split())


def load_missing(names: typing.Sequence[str]) -> dict[str, str]:
    """Load the controls that are named by module or library and are not loaded yet, as `load` does.

    Returns the references that labels among the names stand for.
    """
    for name in names:
        origin = origin_of(name)
        if name not in _registered and name not in _labels and origin:
            bare = f"{origin}:{_parts(name)[2]}"
            if CLASS.fullmatch(bare) or LIBRARY.fullmatch(bare):
                load(name)
    return {name: _labels[name] for name in names if name in _labels}


def _references(names: typing.Iterable[str]) -> list[str]:
    """Return names that are registered, sorted: references in place of labels."""
    return sorted({_labels.get(name, name) for name in names} & _registered.keys())


def fingerprint(names: typing.Iterable[str]) -> str:
    """Return a digest of the code of the controls that are not built in; empty if all are built in."""
    return "".join(f"{name}={_registered[name]} " for name in _references(names))


def files(names: typing.Iterable[str]) -> list[Path]:
    """Return the files that controls depend on, sorted; empty if all are built in.

    These are the modules of their classes with all of their packages, the modules that these import from
    outside the standard library and other installed packages, and shared libraries with the libraries that
    they link from their own folders.
    """
    every = {file for name in _references(names) for file in _follows[name].files}
    return sorted(every - {Path(base.__file__).resolve()})


def are_python(names: typing.Iterable[str]) -> bool:
    """Return whether any of the controls is written in Python."""
    return any(not LIBRARY.fullmatch(name) for name in _references(names))


def changed(names: typing.Iterable[str]) -> list[str]:
    """Return the controls whose files have changed since they were loaded.

    A process that loads them now would get other code than this process has.
    """

    def is_changed(name: str) -> bool:
        try:
            return _follows[name].digest() != _contents[name]
        except OSError:
            return True

    return [name for name in _references(names) if is_changed(name)]


def trace(error: BaseException) -> str:
    """Return the traceback of an exception without the frames of the engine.

    It is empty if no frame is in the files of controls that are not built in.
    """
    import traceback

    own = {str(file) for file in files(_registered)}
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.realpath(frame.filename) in own
    ]
    if not frames:
        return ""
    lines = [*traceback.format_list(frames), *traceback.format_exception_only(error)]
    return "".join(["Traceback (most recent call last):\n", *lines]).rstrip("\n")


def follows(names: typing.Iterable[str]) -> str:
    """Return a sentence that lists the code on which the numbers of controls depend.

    It is empty if all controls are built in. It names a package by its folder if every file of the package
    counts; paths below the working directory are relative.
    """
    own = _references(names)
    folders = sorted({folder for name in own for folder in _follows[name].packages})
    lone = [file for file in files(own) if not any(map(file.is_relative_to, folders))]
    here = Path.cwd().resolve()
    shown = [str(path.relative_to(here) if path.is_relative_to(here) else path) for path in lone]
    shown += [f"{path.relative_to(here) if path.is_relative_to(here) else path}/" for path in folders]
    shown += map(str, sorted({package for name in own for package in _follows[name].installed}))
    if own and not shown:
        shown = [f"the source of {name}" for name in own]
    return f"The numbers depend on {', '.join(shown)}." if shown else ""
