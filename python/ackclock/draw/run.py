"""Pictures of one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from ackclock.draw import curves, plots
from ackclock.draw.curves import Recorded
from ackclock.names import hint
from ackclock.summary import FlowSummary, profiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Flows = Sequence[str] | str | None
Seconds = tuple[float, float] | None
PanelDrawing = Callable[["Axes", list[FlowSummary]], None]
MOST_CURVES = 20
"""With more flows all curves look alike, and there is no legend."""
OF_FLOWS: Mapping[str, tuple[Callable[[Recorded, int, str], curves.TimeSeries], str, str]] = {
    "window": (curves.of_flow, "window", "window (packets)"),
    "rtt": (curves.of_flow, "rtt_ms", "RTT (ms)"),
    "shares": (curves.rate, "arrived_bytes", "goodput (Mbit/s)"),
    "in_order": (curves.rate, "delivered_bytes", "delivered in order (Mbit/s)"),
}
"""Pictures with a curve per flow: the curve, its column, and the label of the axis."""


class Pictures:
    """The pictures of a run, for `Run.plot`; each method returns a Matplotlib figure for notebooks.

    All methods take ``ax``, a panel to draw into; ``flows``, the names of the flows to show; and
    ``time``, the first and last second.

    Parameters
    ----------
    run : Recorded
        A recorded run.
    """

    def __init__(self, run: Recorded) -> None:
        self._run = run

    def __repr__(self) -> str:
        offered = ", ".join(name for name in vars(type(self)) if not name.startswith("_"))
        return f"<Pictures: {offered}>"

    def _repr_png_(self) -> bytes:
        return self.overview()._repr_png_()

    def window(self, *, ax: Axes | None = None, flows: Flows = None, time: Seconds = None) -> Figure:
        """Draw the congestion windows over time, in packets, with a curve per flow."""
        return self._one(partial(self._draw_flows, "window"), ax, flows, time)

    def rtt(self, *, ax: Axes | None = None, flows: Flows = None, time: Seconds = None) -> Figure:
        """Draw the round-trip times over time, in milliseconds, with a curve per flow."""
        return self._one(partial(self._draw_flows, "rtt"), ax, flows, time)

    def shares(self, *, ax: Axes | None = None, flows: Flows = None, time: Seconds = None) -> Figure:
        """Draw the goodput of the flows over time, in Mbit/s, as means over hundredths of the run.

        Data counts when it arrives, in whatever order; `in_order` draws what is delivered.
        """
        return self._one(partial(self._draw_flows, "shares"), ax, flows, time)

    def in_order(self, *, ax: Axes | None = None, flows: Flows = None, time: Seconds = None) -> Figure:
        """Draw the data delivered in order over time, in Mbit/s, as means over hundredths of the run.

        Packets that wait for a hole before them count when it is filled, so that a curve can rise above the
        rate of the link.
        """
        return self._one(partial(self._draw_flows, "in_order"), ax, flows, time)

    def queue(self, *, ax: Axes | None = None, flows: Flows = None, time: Seconds = None) -> Figure:
        """Draw the queues over time, in packets, with a curve per link that has ever queued a packet."""
        return self._one(self._draw_queue, ax, flows, time)

    def overview(self, *, flows: Flows = None, time: Seconds = None) -> plots.Picture:
        """Draw windows, round-trip times, queues and goodput in four panels over the same time."""
        window, rtt, shares = (partial(self._draw_flows, what) for what in ("window", "rtt", "shares"))
        drawn: tuple[PanelDrawing, ...] = (window, rtt, self._draw_queue, shares)
        with plots.in_style():
            figure, panels = plots.panels(len(drawn), height=1.5)
            for index, (draw, panel) in enumerate(zip(drawn, panels, strict=True)):
                draw(panel, self._chosen(flows))
                self._finish(panel, time, legend=index == 0)
                if index == 0:
                    plots.name_profile(panel, profiles(self._run.summary["flows"]))
                if panel is not panels[-1]:
                    panel.set_xlabel("")
                    panel.tick_params(labelbottom=False)
        return figure

    def _one(self, draw: PanelDrawing, ax: Axes | None, flows: Flows, time: Seconds) -> Figure:
        chosen = self._chosen(flows)
        if ax is not None:
            draw(ax, chosen)
            self._finish(ax, time, legend=len(ax.lines) > 1)
            return cast("Figure", ax.get_figure(root=True))
        with plots.in_style():
            figure, (panel,) = plots.panels(1, height=2.6)
            draw(panel, chosen)
            self._finish(panel, time, legend=len(panel.lines) > 1)
            plots.name_profile(panel, profiles(chosen))
        return figure

    def _chosen(self, flows: Flows) -> list[FlowSummary]:
        every = self._run.summary["flows"]
        names = [flow["name"] for flow in every]
        wanted = [flows] if isinstance(flows, str) else flows
        unknown = [] if wanted is None else [name for name in wanted if name not in names]
        if unknown:
            raise ValueError(f"unknown flow {unknown[0]}: {hint(unknown[0], names)}")
        return [flow for flow in every if wanted is None or flow["name"] in wanted]

    def _draw_flows(self, what: str, panel: Axes, flows: list[FlowSummary]) -> None:
        curve_of, column, label = OF_FLOWS[what]
        for index, flow in enumerate(flows):
            curve = curve_of(self._run, flow["id"], column)
            panel.plot(*curve, label=flow["name"], **plots.style(index))
        panel.set_ylabel(label)

    def _draw_queue(self, panel: Axes, _: list[FlowSummary]) -> None:
        for index, (name, *curve) in enumerate(curves.queues(self._run)):
            panel.plot(*curve, label=name, **plots.style(index))
        panel.set_ylabel("queue (packets)")

    def _finish(self, panel: Axes, time: Seconds, *, legend: bool) -> None:
        panel.set(xlabel="time (s)", xlim=time or (0, self._run.summary["duration_s"]))
        panel.set_ylim(0, None)
        if legend and 0 < len(panel.lines) <= MOST_CURVES:
            plots.legend(panel, 4)
