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

// values: [rows, columns], row-major; labels: [rows]. NaN is a missing value. groups: for a
// ranking, the number of rows of each group, in order.
struct Rows {
  std::vector<double> values;
  std::vector<float> labels;
  std::vector<std::int32_t> groups{};
  std::int32_t columns = 0;

  std::int32_t rows() const { return static_cast<std::int32_t>(labels.size()); }
};

struct TrainRequest {
  const Rows* train = nullptr;
  const Rows* valid = nullptr;     // null or without rows: no early stopping
  std::vector<std::string> names;  // of the columns
  Parameters parameters;           // resolved
  std::int64_t iterations = 100;
  std::int64_t patience = 0;  // iterations without a better first metric; 0: no early stopping
};

// Why training ended.
enum class TrainEnd { iterations, patience, no_split };
const char* to_string(TrainEnd end);  // "all iterations", "early stopping", "no more splits"

struct Trained {
  // In LightGBM's text format, up to the best iteration. Without early stopping this is the last
  // one.
  std::string model;
  // Counted from 1. If the randomly drawn rows and columns of an iteration allow no split, it grows
  // no tree. So there may be fewer iterations here than trained. best_iteration is 0 if none grew a
  // tree.
  std::int64_t iterations = 0, best_iteration = 0;
  TrainEnd end = TrainEnd::iterations;
  std::string metric;         // name of the first metric
  std::vector<double> curve;  // its value on the validation rows after each iteration
};

// Throws Error if LightGBM refuses. Also throws for training on the CPU and by CUDA in one process,
// because LightGBM keeps the device of the first training.
Trained train_model(const LightGbm& library, const TrainRequest& request);

// A trained model. Movable; one thread at a time.
class Model {
 public:
  // Throws Error if the text is no model.
  Model(const LightGbm& library, const std::string& text);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // The predictions of the objective (probabilities, if it has them), [rows, outputs]. values:
  // [rows, columns], row-major. Throws Error if the columns are not those of training.
  std::vector<double> predict(std::span<const double> values, std::int32_t columns,
                              int threads) const;
  int outputs() const { return outputs_; }       // numbers a row: classes, or 1
  std::vector<double> split_importance() const;  // [columns]: how often each one splits
  std::vector<double> gain_importance() const;   // [columns]: total gain of these splits

 private:
  std::vector<double> importance(int kind) const;

  const LightGbm& library_;
  void* booster_ = nullptr;
  int columns_ = 0, outputs_ = 1;
};

}  // namespace lockstep::gbdt
