#!/usr/bin/env bash
# Removing the CUDA 12 packages that an earlier torch left behind deletes libraries of CUDA 13.
#
# Guess: packages with -cu12 and with -cu13 in their names lie beside each other, as those of cuBLAS do (nvidia/cublas and nvidia/cu13);
# after an update of torch, the ones for CUDA 12 can be removed.
# Seen with pip 26.3 and NVSHMEM as torch 2.9.1 (3.3.20 for CUDA 12) and 2.11.0 (3.4.5 for CUDA 13) ask for it: both
# write the same files, such as nvidia/nvshmem/lib/libnvshmem_host.so.3. The later one replaces them, and pip lists both
# and finds no conflict. pip uninstall nvidia-nvshmem-cu12 takes the files away, with exit code 0; nvidia-nvshmem-cu13 stays
# listed, "pip check" finds nothing broken, and installing it again does nothing ("already satisfied"). The
# packages of cuDNN, NCCL and cuSPARSELt for CUDA 13, too, have folders whose names do not say which CUDA they are for.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q pip==26.3
pip() { "$work/venv/bin/python" -m pip "$@"; }
site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
library=nvidia/nvshmem/lib/libnvshmem_host.so.3
whose() {
  for record in "$site"/nvidia_nvshmem_cu1?-*.dist-info/RECORD; do
    sum=$(sed -n "s|^$library,sha256=\([^,]*\),.*|\1|p" "$record")
    if [ "$sum" = "$(openssl dgst -sha256 -binary "$site/$library" | base64 | tr '+/' '-_' | tr -d =)" ]; then
      basename "$(dirname "$record")" | cut -d- -f1
    fi
  done
}
{
  pip install -q --no-deps nvidia-nvshmem-cu12==3.3.20
  echo "first: the library is of $(whose)"
  pip install -q --no-deps nvidia-nvshmem-cu13==3.4.5
  echo "second: the library is of $(whose)"
  cut -d, -f1 "$site"/nvidia_nvshmem_cu1?-*.dist-info/RECORD | grep -c '\.so' | sed 's/$/ libraries listed/'
  cut -d, -f1 "$site"/nvidia_nvshmem_cu1?-*.dist-info/RECORD | grep '\.so' | sort | uniq -d | wc -l | sed 's/$/ of them twice/'
  pip check
  pip uninstall -q -y nvidia-nvshmem-cu12
  echo "after removing cu12: $(pip list --format freeze | grep nvshmem), $(find "$site" -name 'libnvshmem*.so*' | wc -l) libraries"
  pip check
  pip install --no-deps nvidia-nvshmem-cu13==3.4.5 2>&1 | grep -o 'already satisfied'
} | tee "$work/said"
diff "$work/said" - <<'TEXT'
first: the library is of nvidia_nvshmem_cu12
second: the library is of nvidia_nvshmem_cu13
24 libraries listed
12 of them twice
No broken requirements found.
after removing cu12: nvidia-nvshmem-cu13==3.4.5, 0 libraries
No broken requirements found.
already satisfied
TEXT
