"""A bounded share of the processors for a process: a control group with a quota, of either version."""

import os
import pathlib
import tempfile

_PERIOD = 10_000  # microseconds


class NoShares(Exception):
    """The text says why there can be none here."""


class Share:
    def __init__(self, fraction):
        """`fraction` of one processor."""
        version, tree = _tree()
        try:
            if version == 2:
                (tree / "cgroup.subtree_control").write_text("+cpu")
            self._group = pathlib.Path(tempfile.mkdtemp(prefix="culvert-bench-", dir=tree))
            quota = round(fraction * _PERIOD)
            if version == 2:
                (self._group / "cpu.max").write_text(f"{quota} {_PERIOD}")
            else:
                (self._group / "cpu.cfs_period_us").write_text(str(_PERIOD))
                (self._group / "cpu.cfs_quota_us").write_text(str(quota))
        except OSError as error:
            raise NoShares(f"no control group with a quota can be made: {error}") from None

    def take(self, pid):
        (self._group / "cgroup.procs").write_text(str(pid))

    def close(self):
        os.rmdir(self._group)


def _tree():
    """Which version has the processors, and where."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, path, kind, options = line.split()[:4]
        if kind == "cgroup" and "cpu" in options.split(","):
            return 1, pathlib.Path(path)
        controllers = pathlib.Path(path, "cgroup.controllers")
        if kind == "cgroup2" and "cpu" in controllers.read_text().split():
            return 2, pathlib.Path(path)
    raise NoShares("no file system of control groups has the processors here")
