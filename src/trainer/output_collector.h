// Rank 0's part in predicting items: takes results in input order, on a thread of its own.
#pragma once

#include "engine/prediction.h"
#include "run/item_results.h"
#include "run/item_work.h"
#include "run/prediction_folder.h"
#include "trainer/item_prediction.h"

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace lockstep {

class OutputCollector {
 public:
  OutputCollector(Recipe& recipe, const ItemJob& job);
  ~OutputCollector();  // ends the thread, whatever is left
  OutputCollector(const OutputCollector&) = delete;
  OutputCollector& operator=(const OutputCollector&) = delete;

  bool failed() const { return failed_; }
  void finish();  // waits for the last result; throws what failed

 private:
  class Joint;
  void run(Recipe& recipe);
  void collect(Recipe& recipe);
  bool wait_for(std::int64_t part);  // false: nobody waits for the end any more
  // Why the files of an item cannot have their names; "": they can.
  std::string fault_of(const ItemResult& result);
  void put(const PredictItem& item, const ItemResult& result, PredictionWriter* writer);
  void skip(const PredictItem& item, const std::string& reason, PredictionWriter* writer);
  void show(bool now);
  double all_bytes();  // of the inputs

  const ItemJob& job_;
  InputFiles inputs_;
  ItemResults results_;
  std::set<std::string> placed_;                    // the names of outputs so far
  std::int64_t done_ = 0, skipped_ = 0, left_ = 0;  // of the first, the others
  double shown_s_ = 0;
  WorkOfRanks work_of_ranks_;
  ItemWork work_;
  double work_read_s_ = 0;
  std::optional<double> all_bytes_;
  std::atomic<bool> failed_ = false, abandoned_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

std::int64_t parts_of(const ItemJob& job);

}  // namespace lockstep
