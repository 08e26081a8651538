"""Agents and solvers that look ahead, and the games of one turn that they stand on."""
