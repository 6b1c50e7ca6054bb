"""Worker processes, on this machine or a cluster, with limits of time and memory."""
