"""What the words of papers mean at least where a paper gives no number, the same in all of them."""

MUCH = 0.3
"""Much more or less: three tenths."""
MUCH_MORE = "three tenths more, the least that 'much' means in all papers"
"""The reason, for claims of an order with this margin."""
FULL = 0.95
"""Utilisation of a link that is full, or close to it."""
ALMOST = 0.1
"""Almost nothing, as a share of what it is compared with: a tenth is visible in a picture."""
