"""What tests share: decks and variants, and the reference beside the engine."""
