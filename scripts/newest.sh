#!/usr/bin/env bash
# Builds against the newest torch of the package index, for the CPU, runs the unit tests, and compares the variables of
# `lockstep launch` with those of its torchrun.
#   newest.sh FOLDER
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
# shellcheck source=scripts/torch-versions.sh
. "$here/torch-versions.sh"
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/packages.sh
. "$here/lib/packages.sh"
# shellcheck source=scripts/lib/torch.sh
. "$here/lib/torch.sh"
# shellcheck source=scripts/lib/wheels.sh
. "$here/lib/wheels.sh"

folder=$1
mkdir -p "$folder"
wheels=$folder/wheels.txt
wheels_kind=cpu

say "asking the package index for the newest torch"
list_newest_wheels "$wheels" || die "the package index gave no answer" "check the network and run it again"
name_unpacked
use_wheels
version=$(torch_version "$torch_dir")
supported_torch "$version" || die "the newest torch is $version, which is outside the supported range ($torch_oldest to $torch_limit)" \
  "see scripts/torch-versions.sh"
say "building against LibTorch $version"
BUILD_TORCH=$torch_dir "$here/build.sh" "$folder" -DLOCKSTEP_CUDA=OFF
"$here/test.sh" "$folder" -R '^unit'
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q "torch==$version"
"$folder/python/bin/python" "$checkout/tests/process/python/launchers_test.py" "$folder/lockstep" variables
say "tested against LibTorch $version on the CPU ($(date -u +%Y-%m-%d)); commit $(git -C "$checkout" rev-parse --short HEAD 2>/dev/null || echo unknown)"
