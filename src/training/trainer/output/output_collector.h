// Collects the outputs of predicted items on rank 0, on its own thread. The thread records the
// results of the ranks as they come. Then it gives the outputs their final names, in input order.
#pragma once

#include "core/base/files/beneath.h"
#include "runtime/run/predictions/item_results.h"
#include "runtime/run/predictions/item_work.h"
#include "runtime/run/predictions/prediction_folder.h"
#include "runtime/run/predictions/prediction_record.h"
#include "training/recipe/prediction.h"
#include "training/trainer/output/item_prediction.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace lockstep {

class OutputCollector {
 public:
  OutputCollector(Recipe& recipe, const ItemJob& job);
  ~OutputCollector();  // ends the thread, even if some results have not come
  OutputCollector(const OutputCollector&) = delete;
  OutputCollector& operator=(const OutputCollector&) = delete;

  bool failed() const { return failed_; }
  void finish();  // waits for the last result; rethrows an exception of the thread

 private:
  class Joint;
  void run(Recipe& recipe);
  void collect(Recipe& recipe);
  // Records the results of a part (`batch` items in a row); parts may come in any order. The part's
  // files are moved to a folder in which a later command that continues the prediction finds them.
  // for_writer: whether a PredictionWriter needs the outputs.
  void keep(std::int64_t part, bool for_writer);
  RecordedItem kept(std::size_t index, const ItemResult& result, bool for_writer);
  // Gives the outputs of a part their final names, and passes them to `writer` unless it is null.
  // Parts are delivered in input order.
  void deliver(std::int64_t part, PredictionWriter* writer);
  void deliver(const PredictItem& item, const RecordedItem& made, bool is_new,
               PredictionWriter* writer);
  // Returns why the files of an item cannot get their final names, or "" if they can.
  std::string fault_of(const RecordedItem& made);
  // Gives all files of an item their final names. If one of these names is taken, no file is moved.
  // The item's own file gets its name last.
  void put(const RecordedItem& made);
  void skip(const PredictItem& item, const std::string& reason, PredictionWriter* writer);
  void place_joint(Joint& joint);
  void show(bool now);
  std::int64_t items_in(std::int64_t part) const;
  double all_bytes();  // size of all inputs of this command

  const ItemJob& job_;
  const Beneath folder_;
  InputFiles inputs_;
  ItemResults results_;
  RecordWriter record_;
  std::map<std::int64_t, DonePart> kept_;  // parts that have been recorded
  std::set<std::int64_t> left_;            // parts that were not begun because of ItemJob::ends_s
  std::set<std::string> placed_;           // names of the outputs that have been placed
  std::int64_t kept_items_ = 0, left_items_ = 0, earlier_items_ = 0, skipped_ = 0, next_held_ = 0;
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
