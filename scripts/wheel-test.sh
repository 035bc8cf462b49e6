#!/usr/bin/env bash
# Installs a wheel into a new Python environment and uses it as its user does: without torch, then with it. Trains on two
# CPU ranks, resumes on three, evaluates, predicts, runs a batch of 200 jobs, and uninstalls the wheel, which leaves nothing.
#   wheel-test.sh WHEEL [TORCH]     TORCH: a version (2.11.0)
# Environment: LOCKSTEP_WHEELS, a folder of wheels to take torch from, without network; LOCKSTEP_PYTHON, the Python to make
# the environment with (python3).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
[ $# -ge 1 ] || die "wheel-test.sh takes a wheel" "scripts/wheel-test.sh build-wheel/*.whl"
wheel=$(realpath "$1") torch=${2:-2.11.0}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"${LOCKSTEP_PYTHON:-python3}" -m venv env
pip=("$scratch/env/bin/python" -m pip install -q --disable-pip-version-check)
export PATH=$scratch/env/bin:/usr/bin:/bin
files() { find env -type f ! -name '*.pyc' | sort; }
# must_say TEXT COMMAND…: its output holds the text, whatever it ends with.
must_say() {
  local text=$1
  shift
  "$@" >output 2>&1 || true
  grep -qF -- "$text" output || { cat output >&2 && die "'$*' does not say: $text"; }
}
# succeeds COMMAND…
succeeds() {
  local begin=$SECONDS
  "$@" >output 2>&1 || { cat output >&2 && die "'$*' failed"; }
  echo "wheel-test: $1 $2: $((SECONDS - begin)) s"
}

files >before
"${pip[@]}" --no-index "$wheel"
[ "$(command -v lockstep)" = "$scratch/env/bin/lockstep" ] || die "the wheel brings no lockstep"
must_say "Lockstep" lockstep --help
must_say "pip install 'torch" lockstep train textgen preset=small stop.steps=1 --devices cpu:1
rm -rf runs

# Lockstep uses only the libraries of torch, so the packages that its Python code needs are left out.
source=()
if [ -n "${LOCKSTEP_WHEELS:-}" ]; then source=(--no-index --find-links "$LOCKSTEP_WHEELS"); fi
"${pip[@]}" "${source[@]}" --no-deps "torch==$torch" nvidia-cuda-runtime nvidia-cuda-cupti
succeeds lockstep train textgen preset=small batch.global=12 stop.steps=20 --devices cpu:2 --name a
succeeds lockstep resume runs/a stop.steps=40 --devices cpu:3
must_say "step 40" lockstep runs runs/a
succeeds lockstep evaluate runs/a --devices cpu:2
succeeds lockstep predict runs/a --devices cpu:1 "To be"
succeeds lockstep batch run --name many -- sh -c 'echo "$0" >"$LOCKSTEP_OUT/value"' '{1}' ::: $(seq 200)
[ "$(cat runs/many/jobs/*/value | sort -n | uniq | wc -l)" = 200 ] || die "not all of 200 jobs have run"
sed -i "s/^__version__ = .*/__version__ = '2.9.1'/" env/lib/python3*/site-packages/torch/version.py
must_say "torch 2.9.1 in $scratch/env" lockstep train textgen preset=small stop.steps=1 --devices cpu:1
env/bin/python -m pip uninstall -qy lockstep torch nvidia-cuda-runtime nvidia-cuda-cupti
files >after
diff before after || die "uninstalling left files"
echo "wheel-test: passed with torch $torch"
