// Predicts items on all devices. An item is one input, such as a file, with its own output files.
#pragma once

#include "runtime/run/predictions/item_work.h"
#include "tools/cli/train/train.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Predicts items. Outputs that earlier commands made for the same items with the same weights and
// options are kept. setup: must be resolved for the run, but not yet prepared. inputs: as the user
// typed them; if empty, the inputs of predict.input are used. Returns the exit code.
int predict_items(const RunDir& run, RunSetup setup, std::vector<Device> devices,
                  const ReadOptions& reading, std::vector<std::string> inputs);

// Checks whether predict_items has items to predict and may write the outputs. Lists the items of
// predict.input, or the items that the recipe finds. run: as in ItemQuery. are_new: also throws
// Error if outputs exist in the folder that predict.out names. Returns the number and size of the
// items. The number is 0 if the items come from standard input. Throws Error if there is nothing to
// predict, or if the outputs cannot be written.
ItemLoad check_items(const RunSetup& setup, const std::filesystem::path& run, bool are_new);

// Returns the devices for a prediction of items. If `spec` is empty and there is no GPU, returns
// one CPU rank per core, but at most 16. In all other cases, returns devices_for(spec). Outputs do
// not depend on the number of CPU ranks, because each rank computes with one thread.
std::vector<Device> devices_for_items(const std::string& spec);

}  // namespace lockstep::cli
