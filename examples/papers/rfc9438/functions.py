"""What is measured in runs of RFC 9438."""

from ackclock import Run


def ratio_of_groups(run: Run) -> float:
    """Return the goodput of the flows named short over that of those named long."""
    mbps = {
        group: sum(flow["goodput_mbps"] for flow in run.summary["flows"] if flow["name"].startswith(group))
        for group in ("short", "long")
    }
    return mbps["short"] / mbps["long"]
