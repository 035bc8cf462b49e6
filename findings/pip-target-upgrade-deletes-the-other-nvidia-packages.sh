#!/usr/bin/env bash
# pip install --target DIR --upgrade ONE deletes the files of all other NVIDIA packages in DIR.
#
# Guess: a second "pip install --target DIR" adds the files of its package to DIR; --upgrade replaces files of that package
# alone.
# Seen with pip 26.3 and CUDA 13 wheels, whose files all lie in nvidia/cu13: without --upgrade, the second package is reported as
# "Successfully installed", but none of its libraries is there; a warning says that the folder `nvidia` exists, and to
# use --upgrade. With --upgrade, the folder `nvidia` is replaced as a whole: libnvtx3interop.so.1 is there and libcudart.so.13
# is gone. The exit code is 0 both times, and "pip list" shows both packages as installed. What --target unites in one call it
# keeps; a later call for one more package breaks it.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q pip==26.3
pip() { "$work/venv/bin/python" -m pip "$@"; }
libraries() { (cd "$work/site" && find nvidia -name 'lib*.so*' -printf '%f ' | tr ' ' '\n' | sort | xargs); }
listed() { pip list --path "$work/site" --format freeze | xargs; }
one=nvidia-cuda-runtime==13.0.96
two=nvidia-nvtx==13.0.85
pip install -q --no-deps --target "$work/site" "$one"
{
  echo "one package: $(libraries)"
  pip install --no-deps --target "$work/site" "$two" >"$work/printed" 2>&1
  grep -o 'Successfully installed.*' "$work/printed"
  grep -o 'already exists. Specify --upgrade.*' "$work/printed"
  echo "two packages: $(libraries)"
  pip install --no-deps --target "$work/site" --upgrade "$two" >"$work/printed" 2>&1
  grep -o 'Successfully installed.*' "$work/printed"
  if grep -i 'warning' "$work/printed"; then exit 1; fi
  echo "with --upgrade: $(libraries)"
  echo "listed: $(listed)"
  rm -r "$work/site"
  pip install -q --no-deps --target "$work/site" "$one" "$two"
  echo "in one call: $(libraries)"
} | tee "$work/said"
diff "$work/said" - <<'TEXT'
one package: libcudart.so.13
Successfully installed nvidia-nvtx-13.0.85
already exists. Specify --upgrade to force replacement.
two packages: libcudart.so.13
Successfully installed nvidia-nvtx-13.0.85
with --upgrade: libnvtx3interop.so.1
listed: nvidia-cuda-runtime==13.0.96 nvidia-nvtx==13.0.85
in one call: libcudart.so.13 libnvtx3interop.so.1
TEXT
