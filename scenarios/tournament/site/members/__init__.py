"""People who visit the tournament's site: accounts, sessions, invitations."""
