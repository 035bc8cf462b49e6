#!/usr/bin/env bash
# Makes a static site of README and docs/, for a web server or a browser, and checks every link in it.
#   site.sh [FOLDER]     the site is FOLDER/site (build-site)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/python_tools.sh
. "$here/lib/python_tools.sh"

mkdir -p "${1:-$checkout/build-site}"
folder=$(cd "${1:-$checkout/build-site}" && pwd)
python_tools site "$here/site/requirements.txt"
"$tools/bin/python" "$here/site/stage.py" "$checkout" "$folder"
rm -rf "$folder/site"
"$tools/bin/sphinx-build" -q -W --keep-going -b html "$folder/pages" "$folder/site" -d "$folder/read" ||
  die "the site has links that lead nowhere, or pages that Sphinx cannot read" "see its messages above"
cp "$folder/site/README.html" "$folder/site/index.html"
echo "$folder/site/index.html"
