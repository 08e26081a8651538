"""A tournament for readers: in the terminal, as a Markdown page, and as one HTML file."""

from war_agents.arena.report.page import html
from war_agents.arena.report.text import markdown, print_report

__all__ = ["html", "markdown", "print_report"]
