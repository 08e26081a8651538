"""What games say: intervals, ratings, equilibria, and when enough has been played."""
