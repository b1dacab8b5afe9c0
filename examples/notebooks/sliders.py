# /// script
# dependencies = ["ackclock", "marimo"]
# ///
"""One flow on a path that is set with sliders: `marimo run sliders.py`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    import ackclock

    return ackclock, mo


@app.cell
def _(ackclock, mo):
    names = [control["name"] for control in ackclock.controllers()]
    control = mo.ui.dropdown(names, value="cubic", label="control")
    rate_mbps = mo.ui.slider(1, 100, value=20, label="rate, Mbit/s")
    rtt_ms = mo.ui.slider(20, 600, value=60, label="round trip, ms")
    buffer = mo.ui.slider(5, 1000, value=100, label="buffer, packets")
    loss = mo.ui.slider(0, 5, step=0.1, value=0, label="random loss, %")
    mo.vstack([control, rate_mbps, rtt_ms, buffer, loss])
    return buffer, control, loss, rate_mbps, rtt_ms


@app.cell
def _(ackclock, buffer, control, loss, rate_mbps, rtt_ms):
    lossy = {"loss": {"kind": "bernoulli", "rate": f"{loss.value} %"}} if loss.value else {}
    path = ackclock.dumbbell(f"{rate_mbps.value} Mbit/s", "5 ms", f"{buffer.value} packets", **lossy)
    flow = ackclock.flow(control.value, rtt=f"{rtt_ms.value} ms")
    run = ackclock.simulate(ackclock.scenario(path, flow, duration="30 s"))
    run.plot.overview()
    return (run,)


if __name__ == "__main__":
    app.run()
