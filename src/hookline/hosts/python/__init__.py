"""Hooks around any Python agent."""
