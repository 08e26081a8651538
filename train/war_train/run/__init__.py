"""What every training run has, whatever learns in it: log, checkpoints, evaluation, stopping."""
