#!/usr/bin/env bash
# Sets pit up (tools/setup.sh) and runs its tests:
#
#   tools/check.sh [STEP...]        (default: all steps but the last three)
#
#   format        sources are formatted as clang-format does
#   layers        folders of lib/ use each other as docs/Layout.md says
#   docs          the generated pages of docs, as Dialect.md and Passes.md, are not stale
#   lit           every pass and tool, the Python package, and the README's program, by a
#                 Python with torch, JAX and matplotlib, which pip installs into the build
#                 folder (test/Python/requirements.txt)
#   wheel         what pip makes of the sources: installed elsewhere, in an empty
#                 environment, and the runtime alone
#   ctest         the runtime
#   sanitize      the runtime again under ASan and UBSan, and under TSan; compiled
#                 programs under ASan
#   fuzz          broken files, manifests, tensors and indices, under ASan and
#                 UBSan (PIT_FUZZ inputs for each target of test/Fuzz)
#   models        programs and models as other projects write them, against numpy
#   differential  random programs against numpy (PIT_DIFFERENTIAL about single ops, and
#                 as many of several ops, and a tenth of the former with the
#                 bounds of each access checked; a tenth as many modules of functions
#                 that compute one sum, and a fiftieth on the emulator of a GPU)
#   examples      the digits example predicts what numpy predicts, those of examples/python
#                 find their results right, and the commands of docs/Embedding.md and
#                 EmbeddingC.md use the installed package: the stock mlir-opt, a tool of its
#                 own, which is tested, and a C program
#   debug         lit again, not optimized and with assertions
#   mutants       the programs of the tests, changed at random: an error may come of
#                 them, but no crash and no compilation of over 10 s (PIT_MUTANTS
#                 programs, drawn by PIT_MUTANTS_SEED)
#   long          what is drawn at random for longer, and all cases of the tests of which
#                 the check takes some: PIT_LONG times as much (default: 40), in hours
#
# A failing step does not stop the others. The summary says how long each step took, and
# the last line counts the tests.
#
# Packages of Python are installed while the sources are compiled, and wheel and examples run
# beside the other steps: all of this keeps one core busy for most of its time. So lit, which
# needs these packages and keeps all cores busy, comes last. With one job (PIT_JOBS=1) there is
# one step at a time, and what wheel and examples print is shown at the end otherwise.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PIT_BUILD_DIR=${PIT_BUILD_DIR:-$root/build}
build=$PIT_BUILD_DIR
logs=$build/check
jobs=${PIT_JOBS:-$(nproc)}
export OMP_WAIT_POLICY=passive # threads that wait for work keep no core from other tests
python=/usr/bin/python3 # the one that Debian's numpy belongs to
llvm=$(sed -n 's/^set(PIT_LLVM_VERSION \([0-9]*\))$/\1/p' "$root/CMakeLists.txt")

all_steps=(format layers docs wheel examples ctest sanitize fuzz models differential lit)
more_steps=(debug mutants long) # half an hour each, from nothing; hours
beside=(wheel examples) # of all steps, those that run beside the others
needing=(lit wheel examples long) # those that need the packages of install_frameworks

# count NAME PASSED FAILED SKIPPED: one step's result, in a file, since steps run beside others.
count() {
  printf '%-14s %5d passed %5d failed %5d skipped\n' "$@" >>"$logs/report"
}

# took NAME SECONDS
took() {
  printf '%-14s %5d s\n' "$@" >>"$logs/report"
}

# total WORD: the sum of the numbers before a word in the report.
total() {
  awk -v word="$1" '{ for (i = 2; i <= NF; ++i) if ($i == word) n += $(i - 1) } END { print n + 0 }' \
    "$logs/report"
}

# contains WORD LIST...
contains() {
  local word=$1 each
  shift
  for each; do [[ $each == "$word" ]] && return; done
  return 1
}

# logged NAME COMMAND...: runs it, showing and keeping what it prints.
logged() {
  local log=$logs/$1.log
  shift
  "$@" </dev/null 2>&1 | tee "$log"
}

# number LOG REGEX: the number that the last match of REGEX(\1) shows, or 0.
number() {
  local n
  n=$(sed -nE "s/.*$2.*/\1/p" "$1" | tail -1)
  echo "${n:-0}"
}

# A step that is one test.
single() {
  local name=$1
  shift
  if logged "$name" "$@"; then count "$name" 1 0 0; else count "$name" 0 1 0; fi
}

sources() {
  find "$root/include" "$root/lib" "$root/tools" "$root/test" "$root/examples" \
    \( -name '*.h' -o -name '*.c' -o -name '*.cpp' -o -name '*.inc' \) -print0
}

# clang-format breaks a first line that is too long, and leaves the rest behind.
check_banners() {
  sources | xargs -0 awk 'FNR == 1 && /^\/\/===-/ && (length($0) != 80 || !/\/\/$/) {
    print FILENAME ": the first line is no banner of 80 columns"; bad = 1 } END { exit bad }'
}

check_format() {
  sources | xargs -0 "clang-format-$llvm" --dry-run --Werror && check_banners
}

step_format() { single format check_format; }

step_layers() { single layers "$python" "$root/tools/check_layers.py"; }

step_docs() { single docs ninja -C "$build" pit-doc-check; }

# run_lit NAME COMMAND...: counts what a run of lit says.
run_lit() {
  logged "$@"
  local status=$? log=$logs/$1.log good bad skip
  good=$(($(number "$log" '^ *Passed *: *([0-9]+)') +
    $(number "$log" '^ *Expectedly Failed *: *([0-9]+)')))
  bad=$(($(number "$log" '^ *Failed *: *([0-9]+)') +
    $(number "$log" '^ *Timed Out *: *([0-9]+)') +
    $(number "$log" '^ *Unresolved *: *([0-9]+)') +
    $(number "$log" '^ *Unexpectedly Passed *: *([0-9]+)')))
  skip=$(number "$log" '^ *Unsupported *: *([0-9]+)')
  # Without a test that ran, or with an error that is no test's, it failed.
  ((good + bad == 0 || (status && !bad))) && bad=$((bad + 1))
  count "$1" "$good" "$bad" "$skip"
}

# A virtual environment with what test/Python/requirements.txt lists, made anew when that changes.
# pip is the system's: Debian's venv has none of its own. Tests import a few of the 12,000 files of
# Python; pip would compile all.
install_frameworks() {
  local venv=$build/frameworks list=$root/test/Python/requirements.txt
  cmp -s "$list" "$venv/requirements.txt" && return
  rm -rf "$venv"
  "$python" -m venv --system-site-packages --without-pip "$venv" &&
    "$python" -m pip --python "$venv/bin/python" install -q --no-compile -r "$list" &&
    cp "$list" "$venv/"
}

# start_frameworks: installs them beside what comes next.
start_frameworks() {
  rm -f "$logs/frameworks.status"
  {
    install_frameworks </dev/null >"$logs/frameworks.log" 2>&1
    echo $? >"$logs/frameworks.status"
  } &
  installer=$!
}

# have_frameworks: waits until they are installed; false: they are not. Any shell may ask.
have_frameworks() {
  while [[ ! -s $logs/frameworks.status ]] && kill -0 "$installer" 2>/dev/null; do sleep 0.2; done
  cat "$logs/frameworks.log"
  [[ $(cat "$logs/frameworks.status" 2>/dev/null) == 0 ]]
}

# run_python SCRIPT ARGUMENT...: by a Python that has the frameworks and the package.
run_python() {
  PYTHONPATH=$root/python PIT_RUNTIME_LIBRARY=$build/lib/libpit_runtime.so \
    "$build/frameworks/bin/python" "$@"
}

# lit of the build folder, by a Python that has the frameworks.
lit_all() {
  "$build/frameworks/bin/python" "$(sed -n 's/^PIT_LIT:FILEPATH=//p' "$build/CMakeCache.txt")" \
    -sv -j "$jobs" --time-tests "$@"
}

step_lit() {
  if have_frameworks; then
    run_lit lit lit_all "$build/test"
    return
  fi
  local needing
  needing=$(grep -lE '^# REQUIRES:.*\b(torch|transformers|jax|matplotlib|mypy)\b' "$root"/test/Python/*.py)
  echo "tools/check.sh: pip cannot install test/Python/requirements.txt; skipped:"
  echo "$needing"
  run_lit lit ninja -C "$build" check-pit
}

# make_wheel FOLDER OPTION...: the only wheel in FOLDER.
make_wheel() {
  local folder=$1
  shift
  rm -rf "$folder"
  PIT_JOBS=$jobs "$build/frameworks/bin/python" -m pip wheel "$root" -q \
    --no-build-isolation --no-deps -w "$folder" "$@"
}

# check_wheel FOLDER OPTION...: the options are of test/Wheel/wheel.py.
check_wheel() {
  local folder=$1
  shift
  "$python" "$root/test/Wheel/wheel.py" "$folder"/pit-*.whl "$@"
}

# It is built in a folder beside the build folder, where ccache finds what was compiled.
step_wheel() {
  if ! have_frameworks; then
    echo "tools/check.sh: pip cannot install scikit-build-core; skipped"
    count wheel 0 0 1
    return
  fi
  local wheels=$build/wheels program=$build/wheels/matmul.so
  logged wheel make_wheel "$wheels/all" --config-settings=build-dir="$build-wheel" &&
    logged wheel make_wheel "$wheels/runtime" --config-settings=build-dir="$build-wheel-runtime" \
      --config-settings=cmake.define.PIT_RUNTIME_ONLY=ON &&
    logged wheel "$build/bin/pit-compile" "$root/examples/matmul.mlir" -o "$program" ||
    { count wheel 0 1 0; return; }
  single wheel-all check_wheel "$wheels/all"
  single wheel-runtime check_wheel "$wheels/runtime" --runtime-only "$program"
}

step_debug() {
  PIT_BUILD_DIR=$build/debug PIT_PRESET=debug logged debug "$root/tools/setup.sh" ||
    { count debug 0 1 0; return; }
  run_lit debug ninja -C "$build/debug" check-pit
}

# run_ctest NAME BUILD: all of a build folder's tests but lit's.
run_ctest() {
  logged "$1" ctest --test-dir "$2" --output-on-failure -j "$jobs" -E '^pit-lit$'
  local status=$? bad total
  bad=$(number "$logs/$1.log" 'tests passed, ([0-9]+) tests? failed out of [0-9]+')
  total=$(number "$logs/$1.log" 'failed out of ([0-9]+)')
  ((total == 0 || (status && !bad))) && bad=$((bad + 1)) total=$((total + 1))
  count "$1" $((total - bad)) "$bad" 0
}

step_ctest() { run_ctest ctest "$build"; }

# run_sanitized NAME SANITIZERS THREADS: the runtime and its tests, built alone.
run_sanitized() {
  local dir=$build/$1
  if [[ ! -e $dir/build.ninja ]]; then
    logged "$1" cmake -G Ninja -S "$root" -B "$dir" -DPIT_RUNTIME_ONLY=ON \
      -DPIT_RUNTIME_SANITIZE="$2" -DPIT_RUNTIME_THREADS="$3" \
      -DCMAKE_BUILD_TYPE=RelWithDebInfo || { count "$1" 0 1 0; return; }
  fi
  logged "$1" ninja -C "$dir" -j "$jobs" || { count "$1" 0 1 0; return; }
  run_ctest "$1" "$dir"
}

# run_programs NAME OPTION...
run_programs() {
  local name=$1
  shift
  logged "$name" "$python" "$root/test/Programs/run_programs.py" --build "$build" \
    --jobs "$jobs" "$@"
  local status=$? log=$logs/$name.log good bad
  good=$(number "$log" '^programs: ([0-9]+) passed')
  bad=$(number "$log" '^programs: [0-9]+ passed, ([0-9]+) failed')
  ((good + bad == 0 || (status && !bad))) && bad=$((bad + 1))
  count "$name" "$good" "$bad" 0
}

# One of each kind: they take as long as the compiler does.
sanitized_programs='^(conv-2d-nhwc-hwcf|matmul-bf16|matmul-transpose-a|mmt4d|mttkrp|'
sanitized_programs+='masked-attention|embedding-bag|moe-layer|lstm|mobilenet-block|padded|'
sanitized_programs+='prefix-sums|argmax|sum-of-columns|perceptron-i8|concatenated-rows|'
sanitized_programs+='slices-in-a-loop|pooling-max|three-reductions|packed-and-unpacked):marked$'

step_sanitize() {
  run_sanitized asan-ubsan address,undefined openmp
  run_sanitized tsan thread pthreads
  # Compiled programs, in a process that has the sanitizer. Memory that LLVM and Python never free
  # is no leak of theirs.
  ASAN_OPTIONS=detect_leaks=0 \
    LD_PRELOAD=$("clang-$llvm" -print-file-name=libclang_rt.asan-x86_64.so) \
    run_programs programs-asan --pipeline sanitize=address --opt-level=0 --only "$sanitized_programs"
}

# fuzz TARGET: from the seeds that the target writes, the same inputs each time.
run_fuzz() {
  local dir=$build/fuzz seeds=$build/fuzz/seeds/$1
  rm -rf "$seeds"
  mkdir -p "$seeds" "$dir/found"
  ASAN_OPTIONS=allocator_may_return_null=1 "$dir/bin/$1" --seeds="$seeds" &&
    ASAN_OPTIONS=allocator_may_return_null=1 "$dir/bin/$1" -seed=1 -max_len=4096 \
      -timeout=60 -runs="${PIT_FUZZ:-20000}" -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$dir/found/" "$seeds"
}

step_fuzz() {
  local dir=$build/fuzz name
  if [[ ! -e $dir/build.ninja ]]; then
    logged fuzz cmake -G Ninja -S "$root" -B "$dir" -DPIT_RUNTIME_ONLY=ON \
      -DPIT_RUNTIME_FUZZ=ON -DPIT_RUNTIME_SANITIZE=address,undefined \
      -DCMAKE_BUILD_TYPE=RelWithDebInfo || { count fuzz 0 1 0; return; }
  fi
  logged fuzz ninja -C "$dir" -j "$jobs" pit-fuzz || { count fuzz 0 1 0; return; }
  for name in ArgSpec Build Enter Index Manifest Npy; do
    single "fuzz-$name" run_fuzz "${name}Fuzz"
  done
}

step_mutants() {
  single mutants "$python" "$root/test/Fuzz/mlir.py" --build "$build" --jobs "$jobs" \
    --count "${PIT_MUTANTS:-5000}" --seed "${PIT_MUTANTS_SEED:-1}" --out "$build/mutants"
}

# run_differential NAME KIND OPTION...
run_differential() {
  local name=$1 kind=$2
  shift 2
  logged "$name" "$python" "$root/test/Differential/differential.py" --kind "$kind" \
    --build "$build" --count "${PIT_DIFFERENTIAL:-500}" --jobs "$jobs" "$@"
  local status=$? log=$logs/$name.log good bad
  good=$(number "$log" '^differential: ([0-9]+) passed')
  bad=$(number "$log" '^differential: [0-9]+ passed, ([0-9]+) failed')
  ((good + bad == 0 || (status && !bad))) && bad=$((bad + 1))
  count "$name" "$good" "$bad" 0
}

step_differential() {
  run_differential differential ops
  # With the bounds of each access checked; --count given again counts.
  run_differential check-bounds ops --pipeline check-bounds=true \
    --count $(((${PIT_DIFFERENTIAL:-500} + 9) / 10))
  run_differential programs programs
  # A module has some eight functions.
  run_differential sums sums --count $(((${PIT_DIFFERENTIAL:-500} + 9) / 10))
  run_differential emulated-sums sums --chip sm_90a --emulated --max-dim 33 \
    --count $(((${PIT_DIFFERENTIAL:-500} + 49) / 50))
}

step_models() { run_programs models; }

step_long() {
  local times=${PIT_LONG:-40}
  have_frameworks || { count long 0 1 0; return; }
  run_lit long-lit lit_all -Dlong "$build"/test/{GPU,Integration,Python}
  run_programs long-models --opt-level=3
  single transformers run_python "$root/test/Python/torch_modules.py" --all
  PIT_FUZZ=$((${PIT_FUZZ:-20000} * times)) step_fuzz
  PIT_DIFFERENTIAL=$((${PIT_DIFFERENTIAL:-500} * times)) step_differential
}

# The commands of docs/Embedding.md and EmbeddingC.md, in their order: they install the package, and use it as other
# projects do. A test of examples/standalone that fails, fails them.
run_embedding() {
  rm -rf "$build"/{install,plugin,standalone,embed,embed-tree}
  (cd "$root" && "$python" test/Inputs/embedding.py . commands | bash -e -o pipefail)
}

# The examples in Python compile all that they call: nothing is kept for the next run.
run_python_example() {
  PIT_CACHE_DIR='' run_python "$1" --repeat=5 --picture="$logs/$(basename "$1" .py).png"
}

# Each says by its exit status whether its results are right.
run_python_examples() {
  local examples example
  examples=$(grep -l '^def main' "$root"/examples/python/*.py)
  if ! have_frameworks; then
    echo "tools/check.sh: pip cannot install test/Python/requirements.txt; skipped:"
    echo "$examples"
    count python-examples 0 0 "$(wc -l <<<"$examples")"
    return
  fi
  # Each compiles for most of its time, on one core.
  local name
  for example in $examples; do
    name=python-$(basename "$example" .py)
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
    {
      run_python_example "$example" </dev/null >"$logs/$name.log" 2>&1
      echo $? >"$logs/$name.status"
    } &
  done
  wait
  for example in $examples; do
    name=python-$(basename "$example" .py)
    cat "$logs/$name.log"
    if (($(<"$logs/$name.status"))); then count "$name" 0 1 0; else count "$name" 1 0 0; fi
  done
}

step_examples() {
  single digits "$python" "$root/examples/digits/digits.py" --build "$build"
  run_python_examples
  single embedding run_embedding
}

steps=("$@")
((${#steps[@]})) || steps=("${all_steps[@]}")
for step in "${steps[@]}"; do
  [[ " ${all_steps[*]} ${more_steps[*]} " == *" $step "* ]] || {
    echo "tools/check.sh: no step '$step'; there are: ${all_steps[*]} ${more_steps[*]}" >&2
    exit 2
  }
done

# run_steps STEP...
run_steps() {
  local step began
  for step; do
    printf '\n== %s (%s s)\n' "$step" "$SECONDS"
    began=$SECONDS
    "step_$step"
    took "$step" $((SECONDS - began))
  done
}

mkdir -p "$logs"
: >"$logs/report"
first=() second=() installer=
for step in "${steps[@]}"; do
  if contains "$step" "${beside[@]}" && ((jobs > 1)); then second+=("$step"); else first+=("$step"); fi
  # On a bare machine the set-up installs pip.
  if contains "$step" "${needing[@]}" && [[ -z $installer ]] &&
    "$python" -m pip --version >/dev/null 2>&1; then
    start_frameworks
  fi
done
if ! "$root/tools/setup.sh"; then
  [[ -z $installer ]] || kill "$installer"
  exit 1
fi
took setup "$SECONDS"
[[ $installer ]] || start_frameworks
if ((${#first[@]} && ${#second[@]})); then
  run_steps "${second[@]}" >"$logs/beside.log" 2>&1 &
  other=$!
  run_steps "${first[@]}"
  wait "$other"
  cat "$logs/beside.log"
else
  run_steps "${first[@]}" "${second[@]}"
fi

printf '\n== summary (%s s)\n' "$SECONDS"
cat "$logs/report"
failed=$(total failed) skipped=$(total skipped)
if ((skipped)); then
  echo "$(total passed) passed, $failed failed, $skipped skipped"
else
  echo "$(total passed) passed, $failed failed"
fi
((failed == 0))
