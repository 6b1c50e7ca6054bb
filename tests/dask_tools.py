"""A Dask cluster on this machine, for tests of runs on a cluster."""

import socket
import sys
from contextlib import contextmanager

from run_tools import environment, fork_or_start

ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@contextmanager
def dask(folder, workers, *options):
    """A scheduler and workers, separate processes on loopback; its address and the workers' processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    commands = [["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]]
    for number in range(workers):
        place = ["--local-directory", str(folder / f"worker{number}"), "--no-dashboard", *options]
        commands.append(["distributed.cli.dask_worker", address, "--nthreads", "1", *place])
    processes = []
    (folder / "cluster").mkdir(exist_ok=True)
    try:
        for command in commands:
            log = (folder / "dask.log").open("a")
            processes.append(
                fork_or_start(
                    [sys.executable, "-m", *command],
                    modules=["distributed.cli.dask_scheduler", "distributed.cli.dask_worker"],
                    cwd=folder / "cluster",
                    env=environment(**ONE_THREAD),
                    stdout=log,
                    stderr=log,
                )
            )
        yield address, processes[1:]
    finally:
        # Asked to end, workers would wait for answers of a scheduler that has ended too.
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
