"""Models on disk: their cards, saving, reading, finding and showing them; and the shipped ones."""
