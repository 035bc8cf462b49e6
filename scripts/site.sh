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
if [ ! -x "$tools/bin/mkdocs" ]; then
  say "fetching mkdocs into $tools"
  rm -rf "$tools"
  python3 -m venv "$tools" && "$tools/bin/python" -m pip install -q -r "$wanted" ||
    { rm -rf "$tools" && die "mkdocs could not be installed" "see the message of pip above"; }
fi
"$tools/bin/python" "$here/site/stage.py" "$checkout" "$folder"
"$tools/bin/mkdocs" build -q --strict -f "$folder/mkdocs.yml" ||
  die "the site has links that lead nowhere, or pages that mkdocs cannot read" "see its messages above"
echo "$folder/site/index.html"
