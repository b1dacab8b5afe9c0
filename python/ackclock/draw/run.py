"""Pictures of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from ackclock.draw import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CURVES = 20
"""More flows are drawn alike, without a legend."""


class Recorded(Protocol):
    """What is drawn of a run (`ackclock.Run`)."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """Its duration, and the names of its flows and links."""

    @property
    def windows(self) -> pl.DataFrame:
        """Samples by flow."""

    @property
    def queues(self) -> pl.DataFrame:
        """Samples by link."""


class Pictures:
    """What `Run.plot` offers; each method gives a Matplotlib figure, to be shown or saved.

    Parameters
    ----------
    run : Recorded
        A recorded run.
    """

    def __init__(self, run: Recorded) -> None:
        self._run = run

    def window(self) -> Figure:
        """Draw the congestion windows over time.

        Returns
        -------
        Figure
            Packets against seconds, a curve per flow.
        """
        return self._over_time("window", "window (packets)")

    def rtt(self) -> Figure:
        """Draw the round-trip times over time.

        Returns
        -------
        Figure
            Milliseconds against seconds, a curve per flow.
        """
        return self._over_time("rtt_ms", "RTT (ms)")

    def shares(self) -> Figure:
        """Draw the goodput of the flows over time, means of a hundred parts of the run.

        Returns
        -------
        Figure
            Mbit/s against seconds, a curve per flow. Packets that wait for a hole before them
            count when it is filled, so that a curve can rise above the rate of the link.
        """
        with plots.in_style():
            figure, (panel,) = plots.panels(1, height=2.6)
            edges = np.linspace(0.0, self._run.summary["duration_s"], 101)
            for index, flow in enumerate(self._run.summary["flows"]):
                samples = self._run.windows.filter(pl.col("flow") == flow["id"])
                time_s = np.concatenate([[0.0], samples["time_s"].to_numpy()])
                received = np.concatenate([[0.0], samples["delivered_bytes"].to_numpy().cumsum()])
                rate = np.diff(np.interp(edges, time_s, received)) * 8e-6 / np.diff(edges)
                panel.plot(edges[1:], rate, label=flow["name"], **plots.style(index))
            return self._finished(figure, panel, "delivered in order (Mbit/s)")

    def queue(self) -> Figure:
        """Draw the queues over time.

        Returns
        -------
        Figure
            Packets against seconds, a curve per link that has ever queued one.
        """
        with plots.in_style():
            figure, (panel,) = plots.panels(1, height=2.6)
            queues = self._run.queues
            shown = 0
            for index, link in enumerate(self._run.summary["links"]):
                samples = queues.filter(pl.col("link") == index)
                if index and not samples["mean_packets"].fill_null(0.0).to_numpy().any():
                    continue
                panel.plot(
                    samples["time_s"],
                    samples["mean_packets"],
                    label=link["id"],
                    **plots.style(shown),
                )
                shown += 1
            return self._finished(figure, panel, "queue (packets)")

    def _over_time(self, column: str, label: str) -> Figure:
        with plots.in_style():
            figure, (panel,) = plots.panels(1, height=2.6)
            for index, flow in enumerate(self._run.summary["flows"]):
                samples = self._run.windows.filter(pl.col("flow") == flow["id"])
                values = samples[column].cast(pl.Float64).to_numpy()
                panel.plot(samples["time_s"], values, label=flow["name"], **plots.style(index))
            return self._finished(figure, panel, label)

    def _finished(self, figure: Figure, panel: Axes, label: str) -> Figure:
        panel.set(
            xlabel="time (s)", ylabel=label, xlim=(0, self._run.summary["duration_s"]),
            ylim=(0, None),
        )  # fmt: skip
        if 1 < len(panel.lines) <= MOST_CURVES:
            plots.legend(panel, 4)
        return figure
