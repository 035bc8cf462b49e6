// Predicts items: files in, files out, on all devices.
#pragma once

#include "runtime/run/predictions/item_work.h"
#include "tools/cli/train/train.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// setup: resolved for the run, not yet prepared. inputs: as the user typed them; empty: those of
// predict.input. Keeps outputs of earlier commands for the same items with the same weights and
// options. Returns the exit code.
int predict_items(const RunDir& run, RunSetup setup, std::vector<Device> devices,
                  const ReadOptions& reading, std::vector<std::string> inputs);

// Whether predict_items has work and may do it. Lists the items of predict.input, or those that the
// recipe finds, without standard input. run: as in ItemQuery. Throws Error; with `are_new` also for
// existing outputs, if predict.out names their folder. Returns the items; 0: standard input
// decides.
ItemLoad check_items(const RunSetup& setup, const std::filesystem::path& run, bool are_new);

// Without --devices: one rank per CPU core. Each computes with one thread, so that outputs do not
// depend on the number of ranks.
std::vector<Device> devices_for_items(const std::string& spec);

}  // namespace lockstep::cli
