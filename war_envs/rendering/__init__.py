"""Pictures of the table: text so far."""

from war_envs.rendering.text import everything, view

__all__ = ["everything", "view"]
