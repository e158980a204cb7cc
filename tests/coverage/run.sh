#!/bin/sh
# Builds with counters, runs the tests and reports which lines they ran: run.sh JOBS [all]
# With `all` the tests of the real binaries too; a daemon that is killed leaves no counts.
set -eu
jobs=$1
cd "$(dirname "$0")/../.."
cmake --preset coverage >/dev/null
cmake --build --preset coverage -j "$jobs"
find build/coverage -name '*.gcda' -delete
tests='^(config|crypto|fuzz|protocol|proxy)\.'
[ "${2:-}" != all ] || tests='^(config|crypto|fuzz|protocol|proxy|system)\.'
# A test that fails has run its lines all the same.
failed=""
ctest --test-dir build/coverage --output-on-failure -j "$jobs" -R "$tests" || failed=yes
tests/coverage/report.py build/coverage tests/coverage/REPORT.txt
sed '/^file by file/,$d' tests/coverage/REPORT.txt
echo "Files, and the lines that were not run: tests/coverage/REPORT.txt"
[ -z "$failed" ] || { echo "coverage: not all tests have passed" >&2; exit 1; }
