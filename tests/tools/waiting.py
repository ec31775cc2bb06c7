"""Waiting for what others do, always with an end."""

import time


def attempts(seconds, pause=0.01, longest=1):
    """For a loop that ends itself on success: goes round at once, and again after growing pauses until the time is up."""
    deadline = time.monotonic() + seconds
    while True:
        yield
        if time.monotonic() > deadline:
            return
        time.sleep(pause)
        pause = min(pause * 2, longest)


def until(condition, what, seconds=30, pause=0.01):
    """The first answer of condition() that is true.  When there is none in time, an AssertionError says `what`."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(pause)
    return answer


def until_passes(action, errors=AssertionError, seconds=30, pause=0.05):
    """The first result of action() without one of `errors`.  When there is no time left, its last error is raised."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return action()
        except errors:
            if time.monotonic() > deadline:
                raise
        time.sleep(pause)


def until_steady(read, what, seconds=30, pause=0.05):
    """The first value of read() that is the same as the one that was read a pause before it."""
    values = [None, read()]

    def same():
        time.sleep(pause)
        values[:] = values[1], read()
        return values[0] == values[1]

    until(same, what, seconds, 0)
    return values[1]


def until_next_millisecond():
    """A time with milliseconds that a server notes after this is later than those that it noted before."""
    end = time.monotonic_ns() + 1_000_000
    until(lambda: time.monotonic_ns() > end, "a millisecond has passed", pause=0.001)


def let_work(seconds):
    """Lets a process work for so long: for those who kill it anywhere in its work."""
    time.sleep(seconds)
