"""Why a decision was made, and what would be decided under other hooks."""
