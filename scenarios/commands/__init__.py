"""Commands of the command line, one module each; they load what they need when they run."""
