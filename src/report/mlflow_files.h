// MLflow's file store (mlruns): a folder per experiment with a folder per run, each with a
// meta.yaml. https://mlflow.org/docs/latest/tracking/backend-stores, as its FileStore writes it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/tracker_store.h"

namespace lockstep {

struct MlflowExperiment {
  std::filesystem::path folder;
  std::string id, name;
  bool deleted = false;
};

// Experiments in the folder, deleted ones among them; none where it is no store. Never throws.
std::vector<MlflowExperiment> mlflow_experiments(const std::filesystem::path& store);

bool is_mlflow_store(const std::filesystem::path& folder);       // it holds an experiment
bool is_mlflow_experiment(const std::filesystem::path& folder);  // in a store
bool is_mlflow_run(const std::filesystem::path& folder);         // in an experiment

// Of a store, or of one experiment of it.
std::unique_ptr<TrackerStore> open_mlflow_files(const std::filesystem::path& folder);

}  // namespace lockstep
