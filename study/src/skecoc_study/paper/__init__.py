"""The WOLC-ECOC paper: its published numbers, its protocol, and its tables and figures next to ours."""
