// Reads MLflow's file store (mlruns). It has a folder per experiment, which has a folder per run,
// each with a meta.yaml. The format is that of MLflow's FileStore. Source:
// https://mlflow.org/docs/latest/tracking/backend-stores.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/trackers/tracker_store.h"

namespace lockstep {

struct MlflowExperiment {
  std::filesystem::path folder;
  std::string id, name;
  bool deleted = false;
};

// Returns the experiments in the folder, including deleted ones. Returns an empty list if the
// folder is not a store. Never throws.
std::vector<MlflowExperiment> mlflow_experiments(const std::filesystem::path& store);

// whether the folder holds an experiment
bool is_mlflow_store(const std::filesystem::path& folder);
// whether it is an experiment of a store
bool is_mlflow_experiment(const std::filesystem::path& folder);
bool is_mlflow_run(const std::filesystem::path& folder);  // whether it is a run of an experiment

// Opens a store, or one experiment of a store.
std::unique_ptr<TrackerStore> open_mlflow_files(const std::filesystem::path& folder);

}  // namespace lockstep
