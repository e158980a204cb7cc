"""The code blocks of a guide, as a reader would carry them out.

    ```sh HOST              commands, typed on that host one after the other, each of which succeeds
    ```sh HOST fails        the last of them does not
    ```ini HOST:/PATH       the whole of a file there; of whatever kind: ini, nginx, text …
    ```text                 what the commands before it print; `…` stands for anything

The paragraph before commands or a file names its host in bold, and its path, so that what runs is
what the reader sees. A check with a known output may come too early, before a daemon has got so far; it
is repeated for a while, as its reader would.
"""

import dataclasses
import pathlib
import re
import time

_FENCE = re.compile(r"^```(.*)$")
_PATIENCE = 15  # seconds
ANYTHING = "…"


@dataclasses.dataclass
class Block:
    line: int
    words: list  # of the info string
    text: str
    before: str  # the nearest paragraph

    @property
    def prints(self):
        return self.words == ["text"]

    @property
    def host(self):
        return self.words[1].partition(":")[0] if len(self.words) > 1 else ""

    @property
    def path(self):
        return self.words[1].partition(":")[2] if len(self.words) > 1 else ""


@dataclasses.dataclass
class Step:
    block: Block
    expected: str = None


class GuideError(AssertionError):
    def __init__(self, file, line, what):
        super().__init__(f"{file}:{line}: {what}")


def read(file, hosts):
    """The steps of a guide. What is not marked as it should be is an error: no command is left out."""
    steps = []
    for block in _blocks(file):
        if block.prints:
            if not steps or steps[-1].block.path or steps[-1].expected is not None:
                raise GuideError(file, block.line, "an output without the commands that print it")
            steps[-1].expected = block.text
            continue
        _check(file, block, hosts)
        steps.append(Step(block))
    if not steps:
        raise GuideError(file, 1, "there is nothing to run")
    return steps


def _blocks(file):
    begun, prose, apart, found = None, "", True, []
    for number, line in enumerate(pathlib.Path(file).read_text().splitlines(), 1):
        fence = _FENCE.match(line)
        if fence and begun is None:
            begun = Block(number, fence[1].split(), "", prose)
        elif fence:
            found.append(begun)
            begun, apart = None, True
        elif begun is not None:
            begun.text += line + "\n"
        elif line.startswith("    ") or "```" in line:
            raise GuideError(file, number, "code that is not in a block of its own")
        elif line.strip():
            prose, apart = line if apart else f"{prose} {line}", False
        else:
            apart = True
    if begun is not None:
        raise GuideError(file, begun.line, "this block does not end")
    return found


def _check(file, block, hosts):
    if block.host not in hosts:
        raise GuideError(file, block.line, f"no host {block.host!r}: {', '.join(hosts)}")
    if (block.words[0] == "sh") == bool(block.path) or block.words[2:] not in ([], ["fails"]):
        raise GuideError(file, block.line, f"can't be understood: {' '.join(block.words)}")
    for what in (f"**{block.host}**", *([f"`{block.path}`"] if block.path else [])):
        if what not in block.before:
            raise GuideError(file, block.line, f"the paragraph before does not say {what}")


def carry_out(file, steps, machines):
    for step in steps:
        block = step.block
        if block.path:
            machines[block.host].write(block.path, block.text)
        else:
            _type(file, step, machines[block.host])


def _type(file, step, machine):
    deadline = time.monotonic() + _PATIENCE
    while True:
        status, told = machine.run(step.block.text)
        failed = (status != 0) != ("fails" in step.block.words)
        if not failed and (step.expected is None or matches(step.expected, told)):
            return
        if step.expected is None or time.monotonic() > deadline:
            wanted = "" if step.expected is None else f"\n---- expected:\n{step.expected}"
            raise GuideError(file, step.block.line, f"on {machine.name}: status {status}, and it "
                             f"printed:\n{told}{wanted}\n---- log:\n{machine.log()}")
        time.sleep(0.2)


def matches(expected, told):
    parts = (re.escape(part) for part in _without_trailing_space(expected).split(ANYTHING))
    return re.fullmatch(".*".join(parts), _without_trailing_space(told), re.S) is not None


def _without_trailing_space(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
