# SPDX-License-Identifier: Apache-2.0
# For every .bats file: `load ../lib/common`. Gives
#   ROOT      the source tree
#   BUILD     the build folder whose programs are tested (build/asan, or build in a plain checkout)
#   BIN       $BUILD/bin, first in PATH: gpupool, gpupool-nvml
#   scaled N  the number of repetitions for N of `make soak`: about 1 % in `make test`, at least 1
#   not COMMAND...  fails the test if it succeeds; a bare `!` does so only on the last line of a test
ROOT=${GPUPOOL_TEST_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD=${GPUPOOL_TEST_BUILD:-$ROOT/build}
[ -d "$BUILD/bin" ] || [ ! -d "$ROOT/build/asan/bin" ] || BUILD=$ROOT/build/asan
BIN=$BUILD/bin
PATH=$BIN:$PATH
export ROOT BUILD BIN PATH

scaled() {
	local count=$(($1 * ${GPUPOOL_TEST_SCALE:-1} / 100))
	echo $((count > 0 ? count : 1))
}

not() {
	! "$@"
}
