// Predicting items: files in, files out, on all devices.
#pragma once

#include "cli/train.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cli {

// setup: resolved for the run, not prepared yet. inputs: as the user typed them; empty: those of
// predict.input. What earlier commands made of the same items with the same weights and options
// is kept. Returns the exit code.
int predict_items(const RunDir& run, RunSetup setup, std::vector<Device> devices,
                  const ReadOptions& reading, std::vector<std::string> inputs);

// Whether predict_items has something to do, and may: lists the items of predict.input, or those
// that the recipe finds, without standard input. run: as ItemQuery has it. Throws Error; with
// `are_new` outputs that are there already are one, where predict.out names their folder. Returns
// how many items there are; 0: standard input tells.
std::int64_t check_items(const RunSetup& setup, const std::filesystem::path& run, bool are_new);

// Without --devices: as many ranks on the CPU as it has cores, because each computes with one
// thread, so that outputs are the same on any number.
std::vector<Device> devices_for_items(const std::string& spec);

}  // namespace lockstep::cli
