"""The choice of a defense for a table: a portfolio is played in rounds, and the best settings on fresh people."""
