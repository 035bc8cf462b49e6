#!/usr/bin/env bash
# Makes a static site of README and docs/, for a web server or a browser, and checks every link in it.
#   site.sh [FOLDER]     the site is FOLDER/site (build-site)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

mkdir -p "${1:-$checkout/build-site}"
folder=$(cd "${1:-$checkout/build-site}" && pwd)
wanted=$here/site/requirements.txt
tools=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}/site-$(sha256sum "$wanted" | cut -c1-12)
if [ ! -e "$tools/complete" ]; then
  say "fetching Sphinx into $tools"
  rm -rf "$tools"
  if ! python3 -m venv "$tools" || ! "$tools/bin/python" -m pip install -q -r "$wanted"; then
    rm -rf "$tools"
    die "Sphinx could not be installed" "see the message of pip above"
  fi
  touch "$tools/complete"
fi
"$tools/bin/python" "$here/site/stage.py" "$checkout" "$folder"
rm -rf "$folder/site"
"$tools/bin/sphinx-build" -q -W --keep-going -b html "$folder/pages" "$folder/site" -d "$folder/read" ||
  die "the site has links that lead nowhere, or pages that Sphinx cannot read" "see its messages above"
cp "$folder/site/README.html" "$folder/site/index.html"
echo "$folder/site/index.html"
