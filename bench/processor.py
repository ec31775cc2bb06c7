"""Processor time, from /proc: of one process, of one with its children, and of the machine."""
import os
import resource

TICKS = os.sysconf("SC_CLK_TCK")


def fields(pid):
    """The fields of /proc/PID/stat behind the name: the state is the first, the parent the second."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()


def of_process(pid):
    """Seconds of a process, with all its threads."""
    mine = fields(pid)
    return (int(mine[11]) + int(mine[12])) / TICKS


def of_family(pid):
    """Seconds of a process and its children: those that run, and those that have ended."""
    while True:
        mine = fields(pid)
        ticks = sum(map(int, mine[11:15]))
        for other in filter(str.isdigit, os.listdir("/proc")):
            try:
                theirs = fields(other)
            except OSError:
                continue
            if int(theirs[1]) == pid:
                ticks += int(theirs[11]) + int(theirs[12])
        if fields(pid)[13:15] == mine[13:15]:  # else one has ended meanwhile, and may be missing
            return ticks / TICKS


def of_own_children():
    """Seconds of the children of this program that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def of_machine():
    """Seconds that all processors have been busy."""
    with open("/proc/stat") as file:
        busy = [int(n) for n in file.readline().split()[1:]]
    return (busy[0] + busy[1] + busy[2] + sum(busy[5:8])) / TICKS  # user, nice, system, interrupts, stolen
