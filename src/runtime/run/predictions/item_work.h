// Measures the progress of a prediction in steps of work that the recipe counts, such as tiles of a
// volume. Each rank writes its numbers to a small file, and rank 0 adds them up.
#pragma once

#include "core/base/clock.h"
#include "planning/order/predict_items.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

// Totals over all tasks that have begun. A task is an item to predict, or a piece of one.
struct ItemWork {
  double done = 0, begun = 0;  // steps done, and steps of all tasks that have begun
  double bytes = 0;            // bytes of the inputs of tasks that reported steps
  double uncounted = 0;        // bytes of the inputs of tasks that ended without reporting steps
  std::string unit{};          // "tiles"; empty if nothing is counted yet
  ItemWork& operator+=(const ItemWork& other);
  // Estimates the number of steps of all items. all_bytes: bytes of all inputs; 0 = unknown. Items
  // that have not begun are assumed to have as many steps per byte as the items that have begun.
  double expected(double all_bytes) const;
  // Whether all items have begun, so that `expected` is exact.
  bool knows_all(double all_bytes) const;
};

// Counts the work of one rank, which runs one task after another. Not thread-safe.
class RankWork {
 public:
  RankWork(std::filesystem::path folder, int rank, Clock& clock);
  void begin(double bytes);  // begins a task with inputs of this size
  void report(double done, double total, const std::string& unit);
  void end();  // ends the task, with all its steps done

 private:
  void write();  // does not throw, because the numbers are only displayed

  std::filesystem::path file_;
  Clock& clock_;
  ItemWork ended_;  // totals over the finished tasks
  double bytes_ = 0, done_ = 0, total_ = 0;
  std::string unit_;
  double written_s_ = -1;
};

// Adds up, on rank 0, the numbers of all ranks that have written a file. If a file cannot be read,
// its previous numbers are used.
class WorkOfRanks {
 public:
  explicit WorkOfRanks(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ItemWork read();

 private:
  std::filesystem::path folder_;
  std::map<std::string, ItemWork> ranks_;
};

// The size of a file, or of the files directly in a folder together. 0 if unknown.
double input_bytes(const std::filesystem::path& path);

// The amount of work of a prediction, from which its time is estimated.
struct ItemLoad {
  std::int64_t items = 0;
  double item_bytes = 0;  // mean bytes of input per item; 0 = unknown, or the items are not files
};
ItemLoad load_of(const std::vector<PredictItem>& items);

}  // namespace lockstep
