"""The control that is under development."""

import ackclock


class Gentle(ackclock.Control):
    """As Reno, but a loss event takes only a fifth of the window."""

    def on_ack(self, ack: ackclock.Ack) -> None:
        """Grow by one packet per RTT after slow start."""
        if not self.slow_start(ack):
            self.window += ack.growth / self.window

    def on_loss(self, _loss: ackclock.Loss) -> None:
        """Keep four fifths of the window."""
        self.window = self.ssthresh = max(2.0, 0.8 * self.window)
