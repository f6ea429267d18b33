"""Decorators that add your own conditions and actions: the public door to `hookline.extensions`."""

from hookline.extensions import Registration, register_action, register_condition

__all__ = ["Registration", "register_action", "register_condition"]
