# SPDX-License-Identifier: Apache-2.0
# A short front of meson. `make build` leaves the programs that users get in build/bin.
#   build/release  optimised and hardened, no tests; benchmarks (dev/release.ini)
#   build/asan     gcc, address + undefined behaviour + leak checks (dev/asan.ini); tests use it
#   build/clang    clang, the same checks, and the fuzzers (dev/clang.ini)
PROFILE ?= a100-80
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS_PER_FUZZER ?= 600

.PHONY: build demo image test soak fuzz bench format install clean cluster-up cluster-down packages-build packages

build: packages-build
	@dev/build release
	@mkdir -p build/bin && cp -f -t build/bin build/release/bin/*

demo:
	@test/lib/install build demo
	@$(MAKE) --no-print-directory build
	@dev/demo $(PROFILE)

test: packages
	@test/run

soak: packages
	@test/lib/install soak
	@test/lib/rhel_glibc --build >/dev/null || echo "soak: no RHEL-like C library; its tests will be SKIPPED"
	@GPUPOOL_SOAK=1 test/run

fuzz: packages
	@test/run --level fuzz --fuzz-seconds $(SECONDS_PER_FUZZER)

bench: packages
	@dev/build release
	@dev/bench

# A real Kubernetes of one node; the first time builds it, which takes long (test/cluster/README.md).
cluster-up: packages
	@test/cluster/cluster up

cluster-down:
	@test/cluster/cluster down

format: packages
	@git ls-files '*.c' '*.h' | xargs -r clang-format -i

install: build
	@dev/install "$(DESTDIR)" "$(PREFIX)"

image: build
	@dev/image

clean:
	rm -rf build

packages-build:
	@test/lib/install build

packages:
	@test/lib/install build demo test
