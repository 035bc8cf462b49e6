#!/usr/bin/env bash
# Writes the reference pages that the option tables generate: docs/reference/.
#   docs.sh FOLDER [--check]      --check: fails where a page is not current, and writes nothing
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pages=$(dirname "$here")/docs/reference
tool=$(cd "$1" && pwd)/lockstep

if [ "${2:-}" != --check ]; then
  exec "$tool" reference "$pages"
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$tool" reference "$fresh"
for page in "$fresh"/*; do
  if ! diff "$pages/${page##*/}" "$page"; then
    printf 'error: docs/reference/%s is not current\n\nhint: run make docs\n' "${page##*/}" >&2
    exit 2
  fi
done
