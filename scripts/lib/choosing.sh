# shellcheck shell=bash disable=SC2034
# What setup.sh and lightgbm-cuda.sh choose a build's parts with. `here` is the folder scripts.
checkout=$(dirname "$here")
chosen=$checkout/.lockstep
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
# shellcheck source=scripts/torch-versions.sh
. "$here/torch-versions.sh"
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/packages.sh
. "$here/lib/packages.sh"
# shellcheck source=scripts/lib/gpus.sh
. "$here/lib/gpus.sh"
# shellcheck source=scripts/lib/torch.sh
. "$here/lib/torch.sh"
# shellcheck source=scripts/lib/wheels.sh
. "$here/lib/wheels.sh"
# shellcheck source=scripts/lib/bundles.sh
. "$here/lib/bundles.sh"
