"""Waiting for conditions, and doing several things at once."""

import concurrent.futures
import time
import traceback


def until(condition, seconds, what):
    """Waits for the condition to become true and returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def together(tasks):
    """Calls all tasks at once, each in a thread. Returns their results, or raises one
    AssertionError that names every task that failed. `tasks` maps names to callables."""
    with concurrent.futures.ThreadPoolExecutor(len(tasks)) as pool:
        running = {name: pool.submit(task) for name, task in tasks.items()}
        concurrent.futures.wait(running.values())
    failed = {name: done.exception() for name, done in running.items() if done.exception()}
    if failed:
        told = "\n".join(f"{name}: {_in_words(error)}" for name, error in failed.items())
        raise AssertionError(told) from next(iter(failed.values()))
    return {name: done.result() for name, done in running.items()}


def _in_words(error):
    return "".join(traceback.format_exception_only(error)).strip()
