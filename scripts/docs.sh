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
if ! diff -r "$pages" "$fresh"; then
  printf 'error: docs/reference is not current\n\nhint: run make docs\n' >&2
  exit 2
fi
