"""Models on disk: their cards, reading, finding and showing them; the shipped ones lie here."""
