"""Who plays against the learner."""
