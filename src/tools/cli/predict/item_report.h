// The progress of a prediction of items, as rank 0 reports it, and messages about the result.
#pragma once

#include "runtime/launch/launch.h"
#include "runtime/run/predictions/prediction_folder.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct ItemTally {
  std::int64_t total = 0;
  std::int64_t earlier = 0;  // items done by earlier commands
  std::int64_t done = 0;     // items done by earlier commands and this one, including skipped items
  std::int64_t waiting = 0;  // items done, but not written yet, because earlier items are missing
  // items that were not begun, because they would end after the time limit
  std::int64_t left = 0;
  nlohmann::json skipped = nlohmann::json::array(), warnings = nlohmann::json::array();

  void on_event(const nlohmann::json& event);
};

std::string items_text(std::int64_t count);  // "8 items"

// Prints "8 items: 3 are done already, 5 to do". Prints nothing if earlier commands did no item.
void say_what_is_done(const ItemTally& tally);

// Reports a command that did all items or had nothing to do. With `json`, also prints the result as
// JSON. Returns the exit code, which is exit_failed if items were skipped.
int report_items_done(const ItemTally& tally, const std::filesystem::path& folder,
                      const std::vector<std::string>& joint_outputs, bool json);

// Reports a command that had too little time for all items. partial, again: as for
// report_items_left.
void report_no_time(const ItemTally& tally, const std::filesystem::path& folder,
                    const std::vector<std::string>& partial, const std::string& again);

// Reports how many items are done after a command failed. The caller reports the failure
// afterwards. partial: names of outputs that hold only some of the items. again: the command that
// resumes, or "".
void report_items_left(const LaunchOutcome& outcome, const ItemTally& tally,
                       const PredictionFolder& folder, const std::vector<std::string>& partial,
                       const std::string& again);

}  // namespace lockstep::cli
