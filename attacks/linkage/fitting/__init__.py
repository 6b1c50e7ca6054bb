"""Column models of linkage, fitted by expectation maximization."""
