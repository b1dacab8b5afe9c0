"""Why claims differ, found by trying; what was tried is in docs/reproduction.md."""

QUEUE = (
    "With the paper's own alpha, (rtt_max - rtt_min)/rtt_max, FIT asks for a share of the largest "
    "queue that it has seen: its N, and what it takes from others, depend on the buffer, which is open."
)

REASONS: dict[str, dict[str, str]] = {
    "figure-4": {
        "*": "Our FAST halves its window at a loss, as its authors' ns-2 code does by way of Reno's "
        "recovery; the paper's own FAST 'doesn't react to packet loss'."
    },
    "figure-5": {
        "*": "Most likely: the noise is on a link that keeps packets in order, so the delay is near the "
        "largest recent draw: rtt_min is far below the mean, and FIT stays at one session. What "
        "the paper's emulator did with order is open, and so is FAST's hand-tuned alpha."
    },
    "figure-6": {
        "(b) each Reno beside FIT keeps 5 to 10 %": "Five Renos at 5 % loss get 6.6 % each at 100 ms; "
        "Gaussian noise with 80 ms on a link that keeps order makes the round trip longer.",
        "(a) FAST takes more than its share": "Tried: 0.37 with twice the buffer, near the paper's 0.35.",
        "*": QUEUE,
    },
    "figure-8": {
        "LA wired: FIT is highest": "The path is nearly full for both: 93.1 and 96.2 of 100 Mbit/s. Tried: with NewReno FIT has 89.6, Illinois 90.2.",
        "*": "The noise of the emulated CDMA path keeps FIT at one session, as in figure 5, and CUBIC and FIT are within each other's intervals. Tried: FIT is ahead in the city with SACK, in the town with NewReno.",
    },
    "table-iii": {
        "*": "Equal losses give equal windows, so throughputs go with 1/RTT unless a queue makes the round trips alike. Tried: it depends on the buffer, which is open. With 100 ms of it in place of 50 ms Reno has 4.1, CUBIC 1.9, CTCP 3.4 and FAST 1.7 at 1/8, as in the paper; FIT 5.3: it needs 339 ms for the paper's 1.9.",
    },
    "table-v": {
        "*": "On a path with noise FIT stays near one session; how much noise the live path had is not known. "
        "Tried: 1.1 to 1.4 times in the town and 1.7 to 2.1 on WiFi, whatever buffer, recovery, minimum "
        "RTO, overhead and seeds."
    },
}
