"""Networks that play: what they are made of, as agents, and many of them at once."""
