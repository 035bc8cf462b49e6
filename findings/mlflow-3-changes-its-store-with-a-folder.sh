#!/usr/bin/env bash
# A folder mlruns that appears beside mlflow.db makes MLflow 3.17 leave the database that it has used until then.
#
# Guess: which store MLflow takes by default is a matter of its version and settings; runs that were logged without a
# tracking URI are found again from the same folder.
# Seen with mlflow-skinny 3.17.2 (sqlalchemy 2.0.51, alembic 1.18.5), no variable set: start_run() in an empty folder makes
# mlflow.db, and search_runs() finds the run. A folder mlruns that holds a folder 1 with a meta.yaml, as an earlier version or
# a copy of somebody's runs leaves it, is enough: the next search_runs() raises, because file stores have to be allowed. With
# MLFLOW_ALLOW_FILE_STORE=true it finds no run: the database, which is still there, is not asked.
# mlflow-skinny 2.22.2 never looks at mlflow.db: it takes mlruns.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
cat >"$work/look.py" <<'PYTHON'
import os
import sys

import mlflow

if sys.argv[1] == "log":
    with mlflow.start_run():
        mlflow.log_metric("loss", 1.0)
try:
    found = len(mlflow.search_runs(search_all_experiments=True, output_format="list"))
    print(f"{found} run(s); " + ", ".join(sorted(name for name in os.listdir() if name.startswith("ml"))))
except Exception as error:
    print(f"{type(error).__name__}; " + ", ".join(sorted(name for name in os.listdir() if name.startswith("ml"))))
PYTHON
look() { (cd "$work/here" && "$work/venv/bin/python" "$work/look.py" "$1" 2>/dev/null | tail -1); }
expect() {
  echo "$1: $2"
  case $2 in
    $3) ;;
    *) echo "not as seen: expected $3" >&2 && exit 1 ;;
  esac
}
for version in 3.17.2 2.22.2; do
  "$work/venv/bin/python" -m pip install -q "mlflow-skinny==$version" sqlalchemy==2.0.51 alembic==1.18.5
  rm -rf "$work/here" && mkdir "$work/here"
  if [ "$version" = 3.17.2 ]; then
    expect "$version, one run logged" "$(look log)" "1 run(s); mlflow.db*"
    mkdir -p "$work/here/mlruns/1"
    printf 'artifact_location: mlruns/1\nexperiment_id: "1"\nlifecycle_stage: active\nname: other\ncreation_time: 0\nlast_update_time: 0\n' \
      >"$work/here/mlruns/1/meta.yaml"
    expect "$version, beside a folder mlruns/1" "$(look find)" "*Exception; mlflow.db, mlruns"
    expect "$version, file stores allowed" "$(MLFLOW_ALLOW_FILE_STORE=true look find)" "0 run(s); mlflow.db, mlruns"
  else
    expect "$version, one run logged" "$(look log)" "1 run(s); mlruns"
    touch "$work/here/mlflow.db"
    expect "$version, beside an mlflow.db" "$(look find)" "1 run(s); mlflow.db, mlruns"
  fi
done
