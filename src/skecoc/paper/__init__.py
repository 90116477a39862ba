"""The paper of WOLC-ECOC: its published numbers, its protocol, and its tables and figures beside ours."""
