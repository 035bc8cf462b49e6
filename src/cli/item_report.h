// How a prediction of items went, as rank 0 tells it, and what is said of it at the end.
#pragma once

#include "launch/launch.h"
#include "run/prediction_folder.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct ItemTally {
  std::int64_t total = 0;
  std::int64_t earlier = 0;  // done by earlier commands
  std::int64_t done = 0;     // those, and those of this command, skipped ones among them
  std::int64_t waiting = 0;  // of those done: not in their places before those of earlier ones are
  std::int64_t left = 0;     // not begun, because they would not have ended in time
  nlohmann::json skipped = nlohmann::json::array(), warnings = nlohmann::json::array();

  void on_event(const nlohmann::json& event);
};

std::string items_text(std::int64_t count);  // "8 items"

// "8 items: 3 are done already, 5 to do"; nothing where none is.
void say_what_is_done(const ItemTally& tally);

// Of a command that came to its end, or had nothing to do. Prints JSON where that is asked for.
// Returns the exit code.
int report_items_done(const ItemTally& tally, const std::filesystem::path& folder,
                      const std::vector<std::string>& joint_outputs, bool json);

// Of a command whose time was too short for all. partial, again: as below.
void report_no_time(const ItemTally& tally, const std::filesystem::path& folder,
                    const std::vector<std::string>& partial, const std::string& again);

// What a command that failed leaves, before it says why it failed. partial: names of outputs that
// hold a part of the items. again: the command that goes on, or "".
void report_items_left(const LaunchOutcome& outcome, const ItemTally& tally,
                       const PredictionFolder& folder, const std::vector<std::string>& partial,
                       const std::string& again);

}  // namespace lockstep::cli
