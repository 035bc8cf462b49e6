// Writes runs into MLflow's file store: mlflow.org/docs/latest/tracking/backend-stores, as its
// FileStore reads it.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "report/export_file.h"

namespace lockstep {

// Throws Error where MLflow would not read a file store in that folder, or would then no longer
// read the store that it has: it is a database, or one lies beside it that MLflow reads by default
// until the folder holds an experiment.
void check_mlflow_folder(const std::filesystem::path& store);

// The folder of the experiment of that name, which is made where MLflow has none. time: unix
// seconds. Throws Error, also where MLflow keeps it as a deleted one.
std::filesystem::path mlflow_experiment_folder(const std::filesystem::path& store,
                                               const std::string& name, double time);

enum class MlflowStatus { running = 1, finished = 3, failed = 4, killed = 5 };  // its own numbers

struct MlflowRunFacts {
  std::string name;
  MlflowStatus status = MlflowStatus::finished;
  double started = 0, ended = NAN;  // unix seconds; NaN: it is not over
  std::map<std::string, std::string> parameters, tags;
};

// Each name has one of its own there, also where several become the same in the characters that
// MLflow allows, or one becomes the folder of another.
class MlflowNames {
 public:
  const std::string& of(const std::string& name);

 private:
  std::string free_name(const std::string& wanted);
  bool take(const std::string& name);

  std::map<std::string, std::string> names_;
  std::set<std::string> files_, folders_;
};

// One run, which is there whole or not at all.
class MlflowRunWriter {
 public:
  // id: 32 hexadecimal digits. replace: one with that id which is there already; else it is an
  // Error.
  MlflowRunWriter(std::filesystem::path experiment, std::string id, bool replace);

  void add(const std::string& metric, double time, std::int64_t step, double value);
  void finish(const MlflowRunFacts& facts);                  // throws Error
  std::size_t left_out() const { return left_out_.size(); }  // metrics that there is no room for

 private:
  void write_values(const std::filesystem::path& folder,
                    const std::map<std::string, std::string>& values) const;
  std::string meta_of(const MlflowRunFacts& facts) const;

  std::filesystem::path experiment_, place_, fresh_;
  std::string id_;
  MlflowNames names_;
  std::map<std::string, std::unique_ptr<ExportFile>> files_;  // by the metric's own name
  std::set<std::string> left_out_;
};

}  // namespace lockstep
