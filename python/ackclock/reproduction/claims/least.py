"""The least differences that the words of papers mean if a paper gives no number; the same for all papers."""

MUCH = 0.3
"""Much more or less: three tenths."""
MUCH_MORE = "the least that 'much' means in all papers"
"""The reason, for claims of an order with this margin."""
PLAIN = 0.01
"""The least difference if a number is only called higher or lower: a hundredth. No printed curve shows less,
because its line is about a hundredth of the axis thick, and with enough runs a meaningless difference would
be decided. It is relative to the lower number or, for shares and other numbers that may be 0 or negative, to
the whole."""
PLAINLY = "what is only called more or less differs by a hundredth, as thick as a line in a figure"
"""The reason, for claims of an order with this margin."""
FULL = 0.95
"""Utilisation of a link that is full, or close to it."""
ALMOST = 0.1
"""Almost nothing, as a share of the other number: a tenth is visible in a picture."""
