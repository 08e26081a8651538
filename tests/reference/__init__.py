"""The two games written a second time, plain and slow, to be read beside the rules page."""
