#!/usr/bin/env bash
# Makes the pictures of README and the guides, docs/pictures, from real runs: trainings on two CPU ranks, and what GPUs
# did from recordings of them. At most 60 KB each; SVG is light or dark as the reader's page is.
#   pictures.sh [BUILD [OUT [NAME…]]]      BUILD: build; OUT: docs/pictures; NAME: train, doctor, monitor, curve, report,
#                                          volume, fewshot, dimabsa, gbdt; without, all
# Where there is no chromium, there are no pictures of a report and of valence and arousal.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/python_tools.sh
. "$here/lib/python_tools.sh"

build=$(cd "${1:-$checkout/build}" && pwd)
mkdir -p "${2:-$checkout/docs/pictures}"
out=$(cd "${2:-$checkout/docs/pictures}" && pwd)
shift "$(($# < 2 ? $# : 2))"
all=(train doctor monitor curve report volume fewshot dimabsa gbdt)
names=("$@")
if (($# == 0)); then names=("${all[@]}"); fi

python_tools pictures "$here/pictures/requirements.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export CUDA_VISIBLE_DEVICES='' PATH=$build:$PATH

# terminal NAME OPTIONS… -- COMMAND…
terminal() {
  local name=$1
  shift
  "$tools/bin/python" "$here/pictures/terminal.py" "$out/$name.svg" "$@"
}
shrink() { "$tools/bin/python" "$here/pictures/shrink.py" "$@"; }
# The newest of these files; a run has a folder of pictures for each evaluation.
newest() { ls -t "$@" | sed -n 1p; }

# What a command prints is shown only where it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }; }

training=(lockstep train textgen preset=small --devices cpu:2 --name first stop.steps=300 eval.every_steps=100)
trained() { [ -d runs/first ] || quietly "${training[@]}"; }
make_train() {
  terminal train --columns 92 --rows 30 --seconds 14 --shown 'lockstep train textgen --devices cpu:2' -- "${training[@]}"
}
make_doctor() {
  terminal doctor --columns 96 --rows 30 --shown 'lockstep doctor' -- lockstep doctor --replay "$checkout/tests/unit/tools/doctor/recordings/one_gpu.jsonl"
}
# Four H200s: a recording of them stands in for the driver.
make_monitor() {
  LOCKSTEP_NVML=$build/tests/libfake-nvml.so FAKE_NVML=$checkout/tests/fakes/recordings/h200-x4-training-begins.json \
    terminal monitor --columns 104 --rows 13 --seconds 12 --shown 'lockstep monitor' -- timeout -s INT 12 lockstep monitor
}
make_curve() {
  trained
  cp runs/first/curves.svg "$out/textgen-curve.svg"
}
# page FILE OUT WIDTH HEIGHT [FLAG]: a page of the browser as a picture.
page() {
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$3,$4" "${@:5}" --screenshot="$work/page.png" \
    "file://$1" >/dev/null 2>&1
  shrink "$work/page.png" "$2" 1000
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
has_browser() { [ -n "$browser" ] || { echo "pictures: no chromium: $1 is left out" >&2 && return 1; }; }
make_report() {
  local shade
  has_browser report || return 0
  trained
  quietly lockstep report first --out report.html
  for shade in light dark; do
    page "$work/report.html" "$out/report-$shade.png" 1000 760 --blink-settings=preferredColorScheme="$([ $shade = dark ] && echo 0 || echo 1)"
  done
}
make_volume() {
  quietly lockstep train volume --devices cpu:2 --name volume precision=fp32 model.width=8 model.depth=3 data.patch=32 batch.global=4 \
    stop.steps=60 eval.every_steps=60
  shrink "$(newest runs/volume/media/*/*.png)" "$out/volume-mask.png" 800
}
make_fewshot() {
  quietly lockstep train fewshot --devices cpu:2 --name fewshot
  shrink "$(newest runs/fewshot/media/*/*.jpg)" "$out/fewshot-boxes.jpg" 800
}
make_dimabsa() {
  has_browser dimabsa || return 0
  quietly lockstep train dimabsa --devices cpu:2 --name dimabsa
  page "$work/$(newest runs/dimabsa/media/*/valence-arousal.svg)" "$out/dimabsa-valence.png" 900 660
}
make_gbdt() {
  quietly lockstep batch gbdt --name gbdt
  cp "$(newest runs/gbdt/heatmap.svg runs/gbdt/*/heatmap.svg 2>/dev/null)" "$out/gbdt-heatmap.svg"
}

for name in "${names[@]}"; do
  declare -F "make_$name" >/dev/null || die "there is no picture '$name'" "one of: ${all[*]}"
  "make_$name"
done
for file in "$out"/*; do
  if [ ! -e "$file" ]; then continue; fi  # none was made
  size=$(stat -c %s "$file")
  ((size <= 60000)) || die "$file has $size bytes, more than 60,000"
done
