"""The public import path of the decorators that add your own conditions and actions: see `hookline.extensions`."""

from hookline.extensions import ANYTHING, CannotImport, Registration, register_action, register_condition

__all__ = ["ANYTHING", "CannotImport", "Registration", "register_action", "register_condition"]
