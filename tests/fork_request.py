"""Asks a server of forks for a process and waits for its end; needs no packages, so that it starts at once.

Run as ``python -IS fork_request.py LISTENER ... CODE``, it is a process of `-n`: the server that listens there has the
packages loaded, and a fork of it runs the code.
"""

import json
import os
import socket
import sys


def ended_fork(server, command, environment):
    """Exit code of a module or a script that a fork has run with this process's streams and folder."""
    # Each message is read alone, also if the process has ended before its number is read.
    report, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        request = {"command": command, "folder": os.getcwd(), "environment": environment}
        socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2, theirs.fileno()])
    report.recv(64)
    return os.waitstatus_to_exitcode(int(report.recv(64)))


def main():
    """Run this file again in a fork, which has one argument: the code."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(sys.argv[1])
        sys.exit(ended_fork(server, [__file__, sys.argv[-1]], dict(os.environ)))


# A server of workers imports this file again under another name.
if __name__ == "__main__":
    if len(sys.argv) == 2:
        exec(sys.argv[1])
    else:
        main()
