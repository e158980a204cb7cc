# The front door. Everything is built by CMake, in build/<preset>; see CMakePresets.json.
#
#   make             builds build/release/culvert and build/release/culvert-load
#   make run         shows a tunnel at work, over TCP and over WebSocket
#   make test        builds and runs every test, those under sanitizers too
#   make test-fast   the tests of the release build that need no service
#   make test-long   messages of GiB, and the commands of every guide, on machines of their own
#   make test-aarch64  the ciphers and the protocol on aarch64, under qemu; part of make test
#   make mutants     wrong versions of the ciphers, each of which a test must catch
#   make fuzz        looks for inputs that break what reads them, a minute for each target
#   make model       the state machines of the protocol, exhaustively; and wrong ones, to be found
#   make coverage    which lines the tests run, into tests/coverage/REPORT.txt; WHAT=all: the tests of
#                    real binaries too
#   make soak        ten minutes of load, faults and restarts, watched, into bench/results
#   make bench-crypto  the ciphers beside other libraries, into bench/results
#   make bench-relay the tunnel beside other tunnels and relays, into bench/results
#   make bench-ladder  what each layer of a relayed byte costs, into bench/results
#   make bench-flood   what strangers cost a server, into bench/results
#   make bench-scaling one to three servers behind HAProxy, into bench/results; root
#   make screenshots   the pictures of the status page and of a load report, into bench/results
#   make install     installs under PREFIX, /usr/local by default; DESTDIR is heeded
#   make package     the Debian packages, into build/package
#   make package-test  installs them into a clean root, uses them, purges them; and the static build
#   make static      build/static: the programs with every library but glibc inside
#   make lint        formatting, and a build by clang without a warning
#   make format      formats the sources
#   make clean

JOBS ?= $(shell nproc)
SECONDS_EACH ?= 60
SOAK_SECONDS ?= 600
CTEST = ctest --output-on-failure --no-tests=error -j $(JOBS)
SOURCES = git ls-files '*.cpp' '*.hpp'

.PHONY: all run test test-fast test-long test-asan test-tsan test-aarch64 mutants fuzz soak model coverage \
    bench-crypto bench-relay bench-ladder bench-flood bench-scaling screenshots \
    install package package-test static lint format clean

all: binaries

.PHONY: binaries build/release build/asan build/tsan build/clang
binaries: TARGETS = --target culvert culvert-load
binaries: build/release

build/release build/asan build/tsan build/clang:
	@.ci/packages build
	@test -f $@/build.ninja || cmake --preset $(@F) >/dev/null
	@cmake --build --preset $(@F) -j $(JOBS) $(TARGETS)

run: binaries
	@python3 bench/demo.py build/release

# Real binaries on a machine that others use too: what fails is run once more, and both runs are
# in the output.
test: test-asan test-tsan test-aarch64 build/release
	@.ci/packages test
	$(CTEST) --test-dir build/release --repeat until-pass:2

test-fast: build/release
	$(CTEST) --test-dir build/release -LE system

# The daemon's sockets, threads and coroutines are covered by the in-process tests; the tests of
# real binaries would only be slower here.
test-asan test-tsan: test-%: build/%
	$(CTEST) --test-dir build/$* -LE system

test-aarch64:
	@tests/aarch64/run.sh $(JOBS)

test-long: build/release
	@.ci/packages test
	$(CTEST) --test-dir build/release -C long -L long

mutants:
	@.ci/packages build
	python3 tests/mutants/run.py .

fuzz:
	@.ci/packages build fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	python3 tests/fuzz/run.py $(SECONDS_EACH) build/fuzz

soak: TARGETS = --target culvert culvert-load culvert-faults
soak: build/release
	python3 -B tests/soak/run.py build/release bench/results/soak.txt $(SOAK_SECONDS)

model:
	@.ci/packages model
	python3 tests/model/run.py --jobs 2 --results tests/model/results.txt

coverage:
	@.ci/packages build $(if $(filter all,$(WHAT)),test)
	@tests/coverage/run.sh $(JOBS) $(WHAT)

# The second build is by clang 19, where the distribution has it.
bench-crypto:
	@.ci/packages build bench
	@builds=release; ! command -v clang++-19 >/dev/null || builds="release release-clang19"; \
	for build in $$builds; do \
	    cmake --preset $$build >/dev/null && \
	    cmake --build --preset $$build -j $(JOBS) --target crypto_bench || exit; \
	done; \
	python3 bench/crypto/run.py $$(printf 'build/%s ' $$builds)

bench-relay: binaries
	@.ci/packages build peers
	python3 bench/relay/run.py --build build/release --results bench/results --readme

bench-ladder:
	@.ci/packages build
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target ladder
	python3 bench/ladder/run.py build/release/ladder

bench-flood:
	@.ci/packages build
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target culvert flood_gate
	python3 bench/flood/run.py build/release

bench-scaling: binaries
	@.ci/packages build peers
	python3 bench/scaling/run.py build/release

screenshots: binaries
	@.ci/packages test
	CULVERT_BINARY=$(CURDIR)/build/release/culvert CULVERT_LOAD=$(CURDIR)/build/release/culvert-load \
	    /usr/bin/python3 -B tests/system/screenshots.py

PREFIX ?= /usr/local
install:
	@.ci/packages build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build --preset release -j $(JOBS) --target installable
	cmake --install build/release

# The same sources give the same bytes: every time in the packages is that of the last commit.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
package:
	@.ci/packages build package
	@cmake --preset package >/dev/null
	@cmake --build --preset package -j $(JOBS)
	@rm -f build/package/*.deb
	cd build/package && umask 022 && SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) cpack
	lintian $$([ $$(id -u) != 0 ] || echo --allow-root) --pedantic --fail-on error,warning,pedantic build/package/*.deb

static:
	@.ci/packages build
	@cmake --preset static >/dev/null
	@cmake --build --preset static -j $(JOBS)

# Four minutes the first time, when it makes the clean root, and one after that, beside the building.
# Without root or the machine's source of packages it says what it leaves out.
package-test: package static
	@.ci/packages test
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target installable
	$(CTEST) --test-dir build/release -C package -L package

lint:
	@.ci/packages build lint
	$(SOURCES) | xargs clang-format-14 --dry-run --Werror
	@$(MAKE) build/clang

format:
	@.ci/packages lint
	$(SOURCES) | xargs clang-format-14 -i

clean:
	rm -rf build
