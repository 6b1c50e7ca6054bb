"""The command ``tokumei``: checks that the five packages are its own before it loads them."""
