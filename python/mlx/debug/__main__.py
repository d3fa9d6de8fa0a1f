"""``python -m mlx.debug script.py``: runs a script, and stops in its kernels."""

import _thread
import argparse
import os
import runpy
import signal
import sys
import threading
from collections.abc import Callable

import mlx.core as mx
from mlx.debug.dap import Server
from mlx.debug.prompt import make_prompt
from mlx.debug.session import Session


def main() -> int:
    """Runs the command; returns the script's status."""
    parser = argparse.ArgumentParser(
        prog="python -m mlx.debug",
        description="Runs a script whose kernels stop, one thread at a time, at breakpoints.",
    )
    parser.add_argument("--dap", action="store_true", help="serve the Debug Adapter Protocol")
    parser.add_argument(
        "--port", type=int, help="serve it at this port instead of stdin and stdout"
    )
    parser.add_argument("script", nargs="?", help="the script (with --dap, a client may name it)")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    options = parser.parse_args()
    if options.script is None and not options.dap:
        parser.error("a script is needed")
    if options.port is not None and not options.dap:
        parser.error("--port goes with --dap")
    os.environ["MLX_CPU_REFERENCE"] = "1"
    session = Session()
    if options.dap:
        server = (
            Server.at_port(session, options.port)
            if options.port is not None
            else Server.at_stdio(session)
        )
        command = server.start([options.script, *options.arguments] if options.script else [])
        return run(command, session, server.serve, lambda: server.quits, server.end)
    prompt = make_prompt(session)
    prompt.start()
    if prompt.quits:
        return 0
    command = [options.script, *options.arguments]
    return run(command, session, prompt.serve, lambda: prompt.quits, lambda status: None)


def run(
    command: list[str],
    session: Session,
    serve: Callable[[], None],
    quits: Callable[[], bool],
    end: Callable[[int], None],
) -> int:
    """Runs the script while `serve` runs on another thread."""

    def body() -> None:
        serve()
        if quits() and not session.ended.is_set():
            _thread.interrupt_main()  # before the kernel goes on, so that the script does not
            session.let_go()

    # Shells start commands in the background with interrupts ignored: those would not end the script.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    helper = threading.Thread(target=body, daemon=True)
    helper.start()
    status = 1  # where it raises
    try:
        status = run_script(command)
    except KeyboardInterrupt:
        if not quits():
            raise
        status = 0
    finally:
        session.ended.set()
        end(status)
        helper.join(timeout=5)  # Python must not end it in the middle of a wait
    return status


def run_script(command: list[str]) -> int:
    sys.argv = list(command)
    sys.path[0] = os.path.dirname(os.path.abspath(command[0]))
    try:
        runpy.run_path(command[0], run_name="__main__")
        mx.synchronize()  # kernels that nobody has waited for stop, too
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
