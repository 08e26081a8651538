"""Single games as PettingZoo environments, and the books that PettingZoo keeps of them."""
