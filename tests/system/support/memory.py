"""The memory of a running process, as the kernel shows it to root."""

import dataclasses
import re

_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)")
_NOT_MEMORY = ("[vvar]", "[vsyscall]")


@dataclasses.dataclass
class Mapping:
    first: int
    last: int
    rights: str
    name: str
    flags: tuple = ()

    @property
    def guarded(self):
        """Locked, and left out of core dumps."""
        return {"lo", "dd"} <= set(self.flags)

    def __str__(self):
        return f"{self.first:x}-{self.last:x} {self.rights} {self.name or 'no file'}"


def mappings(pid):
    found = []
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as lines:
        for line in lines:
            if head := _MAPPING.match(line):
                first, last, rights, name = head.groups()
                found.append(Mapping(int(first, 16), int(last, 16), rights, name))
            elif line.startswith("VmFlags:"):
                found[-1].flags = tuple(line.split()[1:])
    return found


def where(pid, wanted):
    """For each name of `wanted` the mappings whose memory holds its bytes. What can't be read, as
    guard pages, holds nothing that anybody could read."""
    found = {name: [] for name in wanted}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for mapping in mappings(pid):
            if "r" not in mapping.rights or mapping.name in _NOT_MEMORY:
                continue
            content = _read(memory, mapping)
            for name, needle in wanted.items():
                if needle in content:
                    found[name].append(mapping)
    return found


def _read(memory, mapping):
    content = bytearray()
    memory.seek(mapping.first)
    try:
        while len(content) < mapping.last - mapping.first:
            piece = memory.read(mapping.last - mapping.first - len(content))
            if not piece:
                break
            content += piece
    except OSError:
        pass  # unmapped meanwhile, or behind the end of a mapped file
    return content
