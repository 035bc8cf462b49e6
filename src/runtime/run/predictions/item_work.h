// Counts the work of a prediction's items, and how much of it is done, in the recipe's steps (tiles
// of a volume). Each rank writes its numbers to a small file, and rank 0 adds them up.
#pragma once

#include "core/base/clock.h"
#include "planning/order/predict_items.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

// Totals over tasks that have begun.
struct ItemWork {
  double done = 0, begun = 0;  // steps
  double bytes = 0;            // bytes of the inputs whose steps are counted
  double uncounted = 0;        // bytes of inputs that ended without reporting steps
  std::string unit{};          // "tiles"; empty: nothing counted yet
  ItemWork& operator+=(const ItemWork& other);
  // Expected steps of all items, whose inputs have `all_bytes` (0: unknown). Items not yet begun
  // are assumed to have as many steps per byte as the others.
  double expected(double all_bytes) const;
  // Whether `expected` is exact, not an estimate.
  bool knows_all(double all_bytes) const;
};

// A rank's side. One task after another, on one thread.
class RankWork {
 public:
  RankWork(std::filesystem::path folder, int rank, Clock& clock);
  void begin(double bytes);  // a task: an item, or a part of one
  void report(double done, double total, const std::string& unit);
  void end();  // the whole task is done

 private:
  void write();  // does not throw: the numbers are for people only

  std::filesystem::path file_;
  Clock& clock_;
  ItemWork ended_;  // the work of finished tasks
  double bytes_ = 0, done_ = 0, total_ = 0;
  std::string unit_;
  double written_s_ = -1;
};

// Rank 0's side, over all ranks that have written something. If a file cannot be read, its last
// numbers count.
class WorkOfRanks {
 public:
  explicit WorkOfRanks(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ItemWork read();

 private:
  std::filesystem::path folder_;
  std::map<std::string, ItemWork> ranks_;
};

// Bytes of a file, or of the files in a folder; 0 if unknown.
double input_bytes(const std::filesystem::path& path);

// The items to predict, as their time is estimated.
struct ItemLoad {
  std::int64_t items = 0;
  double item_bytes = 0;  // the mean of their inputs; 0: unknown, or the items are no files
};
ItemLoad load_of(const std::vector<PredictItem>& items);

}  // namespace lockstep
