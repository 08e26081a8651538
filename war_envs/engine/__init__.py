"""One engine for both games: records, kernels, layouts of observations, and seeds."""
