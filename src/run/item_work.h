// How much work the items of a prediction are and how much of it is done, in the recipe's steps
// (tiles of a volume): each rank leaves its numbers in a small file, rank 0 adds them up.
#pragma once

#include "base/clock.h"

#include <filesystem>
#include <map>
#include <string>

namespace lockstep {

// Of tasks that were begun.
struct ItemWork {
  double done = 0, begun = 0;  // steps
  double bytes = 0;            // of the inputs whose steps are counted
  double uncounted = 0;        // of those that ended without a word of steps
  std::string unit{};          // "tiles"; empty: nothing was counted yet
  ItemWork& operator+=(const ItemWork& other);
  // Steps of all items, whose inputs have so many bytes: those not begun are taken to have as many
  // steps a byte as the others. 0: not known.
  double expected(double all_bytes) const;
  // Whether that is no estimate.
  bool knows_all(double all_bytes) const;
};

// A rank's side. One task after the other, on one thread.
class RankWork {
 public:
  RankWork(std::filesystem::path folder, int rank, Clock& clock);
  void begin(double bytes);  // a task: an item, or a piece of one
  void report(double done, double total, const std::string& unit);
  void end();  // all of it is done

 private:
  void write();  // nothing is thrown: it is for people alone

  std::filesystem::path file_;
  Clock& clock_;
  ItemWork ended_;  // tasks
  double bytes_ = 0, done_ = 0, total_ = 0;
  std::string unit_;
  double written_s_ = -1;
};

// Rank 0's side: of all ranks that have written something. A file that cannot be read counts as it
// was the last time.
class WorkOfRanks {
 public:
  explicit WorkOfRanks(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ItemWork read();

 private:
  std::filesystem::path folder_;
  std::map<std::string, ItemWork> ranks_;
};

// Bytes of a file, or of the files in a folder; 0 where they are not known.
double input_bytes(const std::filesystem::path& path);

}  // namespace lockstep
