// Writes runs into MLflow's file store, as MLflow's FileStore reads it
// (mlflow.org/docs/latest/tracking/backend-stores).
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tools/report/exports/export_file.h"

namespace lockstep {

// Throws Error if MLflow would not read a file store in that folder, or would no longer read the
// store it has now. This holds if the folder is a database. It also holds if a database lies beside
// it, which MLflow reads by default until the folder holds an experiment.
void check_mlflow_folder(const std::filesystem::path& store);

// The folder of the experiment with that name; creates it if MLflow has none. time: unix seconds.
// Throws Error, also if MLflow keeps the experiment as deleted.
std::filesystem::path mlflow_experiment_folder(const std::filesystem::path& store,
                                               const std::string& name, double time);

// MLflow's own numbers
enum class MlflowStatus { running = 1, finished = 3, failed = 4, killed = 5 };

struct MlflowRunFacts {
  std::string name;
  MlflowStatus status = MlflowStatus::finished;
  double started = 0, ended = NAN;  // unix seconds; NaN: not finished
  std::map<std::string, std::string> parameters, tags;
};

// Gives each metric a unique name in MLflow. Otherwise names may become equal when characters that
// MLflow forbids are replaced, or one name may become a folder of another.
class MlflowNames {
 public:
  const std::string& of(const std::string& name);

 private:
  std::string free_name(const std::string& wanted);
  bool take(const std::string& name);

  std::map<std::string, std::string> names_;
  std::set<std::string> files_, folders_;
};

// Writes one run, which exists whole or not at all.
class MlflowRunWriter {
 public:
  // id: 32 hexadecimal digits. replace: replaces an existing run with that id, which is an Error
  // otherwise.
  MlflowRunWriter(std::filesystem::path experiment, std::string id, bool replace);

  void add(const std::string& metric, double time, std::int64_t step, double value);
  void finish(const MlflowRunFacts& facts);                  // throws Error
  std::size_t left_out() const { return left_out_.size(); }  // metrics beyond the limit

 private:
  void write_values(const std::filesystem::path& folder,
                    const std::map<std::string, std::string>& values) const;
  std::string meta_of(const MlflowRunFacts& facts) const;

  std::filesystem::path experiment_, place_, fresh_;
  std::string id_;
  MlflowNames names_;
  std::map<std::string, std::unique_ptr<ExportFile>> files_;  // by the metric's original name
  std::set<std::string> left_out_;
};

}  // namespace lockstep
