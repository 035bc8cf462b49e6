// MLflow's file store (mlruns): a folder per experiment with a folder per run, each with a
// meta.yaml. Source: https://mlflow.org/docs/latest/tracking/backend-stores, as MLflow's FileStore
// writes it.
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

// Experiments in the folder, including deleted ones; none if it is not a store. Never throws.
std::vector<MlflowExperiment> mlflow_experiments(const std::filesystem::path& store);

bool is_mlflow_store(const std::filesystem::path& folder);       // whether it holds an experiment
bool is_mlflow_experiment(const std::filesystem::path& folder);  // in a store
bool is_mlflow_run(const std::filesystem::path& folder);         // in an experiment

// Opens a store, or one experiment of it.
std::unique_ptr<TrackerStore> open_mlflow_files(const std::filesystem::path& folder);

}  // namespace lockstep
