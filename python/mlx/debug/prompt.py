"""The prompt of the debugger."""

import cmd
import re
import sys
from typing import IO

from mlx.debug.session import Frame, Resume, Session, Stop
from mlx.debug.values import Unshowable, text_of

AROUND = 4  # lines that `list` shows before and after


class Prompt(cmd.Cmd):
    """Commands for the thread that has stopped."""

    prompt = "(mlx) "
    intro = None
    doc_header = "Commands (help COMMAND says more):"

    def __init__(self, session: Session, stdin: IO[str], stdout: IO[str]) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin.isatty()
        self.session = session
        self.started = False
        self.frame_number = 0
        self.quits = False

    # ---- the loop ----

    def start(self) -> None:
        """Returns when the script may run."""
        self.cmdloop()
        self.started = True

    def serve(self) -> None:
        """Prompts whenever a thread stops, until the script has ended."""
        while not self.quits and (stop := self.session.wait()):
            self.frame_number = 0
            self.show_stop(stop)
            self.cmdloop()

    def onecmd(self, line: str) -> bool:
        try:
            return bool(super().onecmd(line))
        except Unshowable as error:
            self.say(f"Error: {error}.")
            return False

    def emptyline(self) -> bool:
        return False

    def do_EOF(self, argument: str) -> bool:  # noqa: N802
        return self.do_quit("")

    def default(self, line: str) -> None:
        self.say(f"There is no command {line.split()[0]!r}; help lists them.")

    def say(self, text: str) -> None:
        self.stdout.write(text + "\n")
        self.stdout.flush()

    def show_stop(self, stop: Stop) -> None:
        why = "Breakpoint" if stop.breakpoint else "Stopped"
        self.say(f"{why} in thread {stop.position} of {stop.kernel}")
        self.show_frame()

    def stopped(self) -> Stop:
        if self.session.stop is None:
            raise Unshowable("no thread has stopped: run starts the script")
        return self.session.stop

    def frame(self) -> Frame:
        return self.stopped().frames[self.frame_number]

    def show_frame(self) -> None:
        frame = self.frame()
        text = self.stopped().source_lines(frame.file).get(frame.line, "")
        self.say(f"{frame.file}:{frame.line} in {frame.name}\n{frame.line:5}  {text}")

    def resume(self, how: Resume) -> bool:
        self.stopped()
        self.session.resume(how)
        return True

    # ---- commands ----

    def do_break(self, argument: str) -> None:
        """break [FILE:]LINE: stops at a line of kernels, or of one: `break scale:4`. Without a line, lists them."""
        if not argument:
            for point in self.session.breakpoints:
                place = f"{point.file}:{point.line}" if point.file else f"line {point.line}"
                self.say(f"{point.number}  {place}")
            return
        file, _, line = argument.strip().rpartition(":")
        if not line.isdigit():
            raise Unshowable("break needs a line, as in 'break 4' or 'break scale:4'")
        point = self.session.add_breakpoint(file, int(line))
        self.say(f"Breakpoint {point.number} at {argument.strip()}")

    def do_delete(self, argument: str) -> None:
        """delete [NUMBER]: removes a breakpoint, or all."""
        left = [p for p in self.session.breakpoints if argument and str(p.number) != argument]
        if argument and len(left) == len(self.session.breakpoints):
            raise Unshowable(f"there is no breakpoint {argument}")
        self.session.set_breakpoints(left)

    def do_thread(self, argument: str) -> None:
        """thread [X,Y,Z | any]: stops only this thread of the grid, or whichever comes first to a breakpoint."""
        if argument == "any":
            return self.session.choose_thread(None)
        if argument:
            numbers = [int(n) for n in re.findall(r"\d+", argument)]
            if not 1 <= len(numbers) <= 3:
                raise Unshowable("thread needs a position in the grid, as in 'thread 3,0,0'")
            x, y, z = numbers + [0] * (3 - len(numbers))
            self.session.choose_thread((x, y, z))
        chosen = self.session.chosen_thread()
        self.say("The first thread at a breakpoint" if chosen is None else f"Thread {chosen}")
        return None

    def do_run(self, argument: str) -> bool:
        """run: starts the script."""
        if self.started:
            raise Unshowable("the script runs already")
        return True

    def do_continue(self, argument: str) -> bool:
        """continue: goes on to the next breakpoint."""
        return self.resume(Resume.CONTINUE) if self.started else self.do_run("")

    def do_step(self, argument: str) -> bool:
        """step: goes on to the thread's next line."""
        return self.resume(Resume.STEP)

    def do_next(self, argument: str) -> bool:
        """next: goes on to the next line, not into functions that this line calls."""
        return self.resume(Resume.NEXT)

    def do_finish(self, argument: str) -> bool:
        """finish: goes on until the function has returned."""
        return self.resume(Resume.FINISH)

    def do_print(self, argument: str) -> None:
        """print EXPRESSION: a value, as in `print x[i + 1]`, `print v.xy` or `print x[0:4]`."""
        self.say(text_of(self.frame().evaluate(argument)))

    def do_locals(self, argument: str) -> None:
        """locals: the variables of the function."""
        for name, value in self.frame().locals().items():
            try:
                text = value.text()
            except Unshowable as error:
                text = f"<{error}>"
            self.say(f"{value.resolve().type.name} {name} = {text}")

    def do_list(self, argument: str) -> None:
        """list: the source around the line."""
        frame = self.frame()
        lines = self.stopped().source_lines(frame.file)
        for number in range(frame.line - AROUND, frame.line + AROUND + 1):
            if number in lines:
                mark = "->" if number == frame.line else "  "
                self.say(f"{mark}{number:4}  {lines[number]}".rstrip())

    def do_where(self, argument: str) -> None:
        """where: the functions that the thread runs, the innermost first."""
        for number, frame in enumerate(self.stopped().frames):
            mark = "*" if number == self.frame_number else " "
            self.say(f"{mark}{number}  {frame.name} at {frame.file}:{frame.line}")

    def do_up(self, argument: str) -> None:
        """up: chooses the function that has called this one."""
        if self.frame_number + 1 == len(self.stopped().frames):
            raise Unshowable("this is the outermost function")
        self.frame_number += 1
        self.show_frame()

    def do_down(self, argument: str) -> None:
        """down: chooses the function that this one has called."""
        self.stopped()
        if self.frame_number == 0:
            raise Unshowable("this is the innermost function")
        self.frame_number -= 1
        self.show_frame()

    def do_quit(self, argument: str) -> bool:
        """quit: ends the script."""
        self.quits = True
        return True

    do_b = do_break
    do_c = do_continue
    do_s = do_step
    do_n = do_next
    do_p = do_print
    do_q = do_quit
    do_w = do_where


def make_prompt(session: Session) -> Prompt:
    return Prompt(session, sys.stdin, sys.stdout)
