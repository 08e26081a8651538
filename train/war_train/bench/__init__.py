"""How fast training is, and what it trains on: sections of ``war bench``."""
