// Predicting items: files in, files out, on all devices.
#pragma once

#include "cli/train.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// setup: resolved for the run, not prepared yet. inputs: as the user typed them; empty: those of
// predict.input. Returns the exit code.
int predict_items(const RunDir& run, RunSetup setup, std::vector<Device> devices,
                  const ReadOptions& reading, std::vector<std::string> inputs);

// Without --devices: as many ranks on the CPU as it has cores, because each computes with one
// thread, so that outputs are the same on any number.
std::vector<Device> devices_for_items(const std::string& spec);

}  // namespace lockstep::cli
