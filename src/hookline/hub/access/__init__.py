"""Who may do what: roles, credentials, and the checks that every request passes."""
