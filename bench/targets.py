"""The targets of docs/performance.md that bench/compare and bench/grow can judge."""
import dataclasses

from measure import say


@dataclasses.dataclass
class Target:
    what: str
    measured: float  # None: not measured here
    limit: float
    least: bool  # whether the limit is the least or the most
    unit: str = "x"
    why_not: str = ""  # when it was not measured

    @property
    def met(self):
        return self.measured is not None and (self.measured >= self.limit if self.least else self.measured <= self.limit)

    def line(self):
        if self.measured is None:
            return f"-    {self.what}: not measured{': ' + self.why_not if self.why_not else ''}"
        word = "at least" if self.least else "at most"
        return f"{'PASS' if self.met else 'MISS'} {self.what}: {self.measured:.4g} {self.unit} ({word} {self.limit:g})"


def ratio(a, b):
    return a / b if a is not None and b else None


def print_targets(targets):
    say("\nTargets")
    for target in targets:
        say(target.line())
    judged = [target for target in targets if target.measured is not None]
    say(f"{sum(target.met for target in judged)} of {len(judged)} met"
        + (f", {len(targets) - len(judged)} not measured" if len(judged) < len(targets) else ""))
