"""A test is a function; its name says what must hold."""
import os
import traceback

ENDPOINT = os.environ["STATOR_ENDPOINT"]
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def run():
    for function in TESTS:
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {name}", flush=True)
        except Exception as e:
            line = traceback.extract_tb(e.__traceback__)[-1].lineno
            print(f"not ok {name}: {type(e).__name__} in line {line}: {str(e)[:500]}".replace("\n", " "), flush=True)
