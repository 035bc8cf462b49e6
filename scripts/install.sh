#!/usr/bin/env bash
# Installs what is built. The owner of the checkout builds first; anyone else (root, by sudo) only copies: it would
# set everything up again in a home folder that nobody else can read.
#   install.sh FOLDER PREFIX
# Environment: DESTDIR; LOCKSTEP_INSTALL_TORCH=ON copies LibTorch too, OFF never does. By default it is copied where
# it lies in a folder that only its owner can enter.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

folder=$1 prefix=$2
if [ "$(id -u)" = "$(stat -c %u "$checkout")" ]; then
  "$here/setup.sh" --quick
  "$here/build.sh" "$folder" programs
elif [ ! -x "$folder/lockstep" ] || [ ! -x "$folder/lockstep-worker" ]; then
  die "nothing is built in '$folder'" "run make build as the owner of this folder, $(stat -c %U "$checkout"), then install again"
fi
# What is installed is for every user of the machine.
umask 022
cmake --install "$folder" --prefix "$prefix"
# The owner's next installation writes it again.
if [ "$(id -u)" = 0 ]; then chown --reference="$folder" "$folder/install_manifest.txt"; fi
