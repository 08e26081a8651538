"""Who plays a tournament's games: in this process, in worker processes, or on a cluster."""
