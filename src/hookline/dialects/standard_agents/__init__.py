from hookline.dialects.standard_agents.dialect import DIALECT

__all__ = ["DIALECT"]
