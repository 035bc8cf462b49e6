// Predicts items: files in, files out, on all devices.
#pragma once

#include "runtime/run/predictions/item_work.h"
#include "tools/cli/train/train.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Keeps outputs of earlier commands for the same items with the same weights and options. setup:
// resolved for the run, not yet prepared. inputs: as the user typed them; empty: those of
// predict.input. Returns the exit code.
int predict_items(const RunDir& run, RunSetup setup, std::vector<Device> devices,
                  const ReadOptions& reading, std::vector<std::string> inputs);

// Checks whether predict_items has work and may do it. Lists the items of predict.input, or those
// that the recipe finds, without standard input. run: as in ItemQuery. Throws Error; with `are_new`
// also if outputs exist and predict.out names their folder. Returns the items; 0: they depend on
// standard input.
ItemLoad check_items(const RunSetup& setup, const std::filesystem::path& run, bool are_new);

// The devices without --devices: one rank per CPU core. Each rank computes with one thread, so that
// outputs do not depend on the number of ranks.
std::vector<Device> devices_for_items(const std::string& spec);

}  // namespace lockstep::cli
