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

// Throws Error if MLflow would not read runs in the folder `store`, or would stop reading the
// database that it uses now. The first case: `store` is a file, which may be a database. The second
// case: `store` contains MLflow's default database mlflow.db. If `store` is named mlruns, mlflow.db
// may also be beside it. MLflow reads that database until `store` holds an experiment.
void check_mlflow_folder(const std::filesystem::path& store);

// Returns the folder of the experiment with that name, and creates the experiment if it does not
// exist. time: unix seconds. Throws Error if the folder cannot be created, or if MLflow keeps a
// deleted experiment of that name.
std::filesystem::path mlflow_experiment_folder(const std::filesystem::path& store,
                                               const std::string& name, double time);

// The values are MLflow's own numbers.
enum class MlflowStatus { running = 1, finished = 3, failed = 4, killed = 5 };

struct MlflowRunFacts {
  std::string name;
  MlflowStatus status = MlflowStatus::finished;
  double started = 0, ended = NAN;  // unix seconds; `ended` is NaN if the run is not finished
  std::map<std::string, std::string> parameters, tags;
};

// Gives each metric a unique name in MLflow. MLflow forbids some characters, and names may become
// equal when these are replaced. A name may also clash with the folder of another name, as "loss"
// does with "loss/train".
class MlflowNames {
 public:
  const std::string& of(const std::string& name);

 private:
  std::string free_name(const std::string& wanted);
  bool take(const std::string& name);

  std::map<std::string, std::string> names_;
  std::set<std::string> files_, folders_;
};

// Writes one run, which exists either whole or not at all.
class MlflowRunWriter {
 public:
  // id: 32 hexadecimal digits. replace: whether an existing run with that id is replaced. If false
  // and there is such a run, throws Error.
  MlflowRunWriter(std::filesystem::path experiment, std::string id, bool replace);

  void add(const std::string& metric, double time, std::int64_t step, double value);
  void finish(const MlflowRunFacts& facts);  // throws Error if the run cannot be written
  // number of metrics that were left out, because a run gets at most 1000
  std::size_t left_out() const { return left_out_.size(); }

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
