// Trains models with LightGBM, and reads models in its text format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// Rows for training or validation. values: [rows, columns], row-major; NaN is a missing value.
// labels: [rows]. groups: for a ranking, the number of rows of each group, in the order of rows.
struct Rows {
  std::vector<double> values;
  std::vector<float> labels;
  std::vector<std::int32_t> groups{};
  std::int32_t columns = 0;

  std::int32_t rows() const { return static_cast<std::int32_t>(labels.size()); }
};

struct TrainRequest {
  const Rows* train = nullptr;
  const Rows* valid = nullptr;     // if null or without rows, there is no early stopping
  std::vector<std::string> names;  // names of the columns of `train`
  Parameters parameters;           // resolved by resolve_parameters
  std::int64_t iterations = 100;
  // Early stopping: training ends after this many iterations without a better value of the first
  // metric. 0: no early stopping.
  std::int64_t patience = 0;
};

// Why training ended. iterations: all were trained. patience: early stopping. no_split: many
// iterations in a row grew no tree.
enum class TrainEnd { iterations, patience, no_split };
const char* to_string(TrainEnd end);  // "all iterations", "early stopping", "no more splits"

struct Trained {
  // The model in LightGBM's text format. With early stopping, it has only the iterations up to the
  // best one.
  std::string model;
  // iterations: the number of trained iterations. best_iteration: the last iteration that the model
  // has, counted from 1; 0 if no iteration grew a tree. An iteration grows no tree if its randomly
  // drawn rows and columns allow no split.
  std::int64_t iterations = 0, best_iteration = 0;
  TrainEnd end = TrainEnd::iterations;
  std::string metric;         // name of the first metric; empty without validation rows
  std::vector<double> curve;  // the metric on the validation rows, by iteration
};

// Trains a model. Throws Error if LightGBM fails. Also throws Error if the process has trained by
// CUDA before and now does not, or the reverse. LightGBM keeps the device of its first training.
Trained train_model(const LightGbm& library, const TrainRequest& request);

// A trained model. Use an object on one thread at a time.
class Model {
 public:
  // text: a model in LightGBM's text format. Throws Error if it is not a model.
  Model(const LightGbm& library, const std::string& text);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Returns the predictions [rows, outputs]. They are probabilities if the objective is a
  // classification. values: [rows, columns], row-major. Throws Error if `columns` is not the number
  // of columns in training.
  std::vector<double> predict(std::span<const double> values, std::int32_t columns,
                              int threads) const;
  int outputs() const { return outputs_; }       // per row: one per class, or one
  std::vector<double> split_importance() const;  // [columns]: number of splits by each column
  std::vector<double> gain_importance() const;   // [columns]: total gain of the column's splits

 private:
  std::vector<double> importance(int kind) const;

  const LightGbm& library_;
  void* booster_ = nullptr;
  int columns_ = 0, outputs_ = 1;
};

}  // namespace lockstep::gbdt
