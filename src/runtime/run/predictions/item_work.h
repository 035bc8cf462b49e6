// Measures the progress of a prediction in steps that the recipe counts, such as tiles of a volume.
// Each rank writes its numbers to a small file, and rank 0 adds them up.
#pragma once

#include "core/base/clock.h"
#include "planning/order/predict_items.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

// Totals over all tasks that have begun.
struct ItemWork {
  double done = 0, begun = 0;  // steps done, and steps of all tasks that have begun
  double bytes = 0;            // bytes of the inputs whose steps are counted
  double uncounted = 0;        // bytes of inputs that ended without reporting steps
  std::string unit{};          // "tiles"; empty if nothing is counted yet
  ItemWork& operator+=(const ItemWork& other);
  // The expected number of steps of all items. all_bytes: bytes of all inputs; 0 = unknown. Items
  // that have not begun are assumed to have as many steps per byte as the others.
  double expected(double all_bytes) const;
  // Whether `expected` is exact.
  bool knows_all(double all_bytes) const;
};

// The side of one rank. It runs one task after another on one thread.
class RankWork {
 public:
  RankWork(std::filesystem::path folder, int rank, Clock& clock);
  void begin(double bytes);  // begins a task, which is an item or a piece of one
  void report(double done, double total, const std::string& unit);
  void end();  // ends a task that is completely done

 private:
  void write();  // does not throw, because the numbers are only displayed

  std::filesystem::path file_;
  Clock& clock_;
  ItemWork ended_;  // the work of finished tasks
  double bytes_ = 0, done_ = 0, total_ = 0;
  std::string unit_;
  double written_s_ = -1;
};

// The side of rank 0. It adds up the numbers of all ranks that have written a file. If a file
// cannot be read, its previous numbers are used.
class WorkOfRanks {
 public:
  explicit WorkOfRanks(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ItemWork read();

 private:
  std::filesystem::path folder_;
  std::map<std::string, ItemWork> ranks_;
};

// The bytes of a file, or of the files directly in a folder. 0 if unknown.
double input_bytes(const std::filesystem::path& path);

// The amount of work of a prediction, from which its time is estimated.
struct ItemLoad {
  std::int64_t items = 0;
  double item_bytes = 0;  // mean bytes per input; 0 = unknown, or the items are not files
};
ItemLoad load_of(const std::vector<PredictItem>& items);

}  // namespace lockstep
