"""Fast coordinate descent on the restricted master."""
