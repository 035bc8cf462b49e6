// The keys under which measured times are recorded.
#pragma once

#include "planning/run_setup.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

// The key of training times. It holds memory_key (planning/memory/measured_memory.h), the batch,
// and the kind and number of the plan's devices. It leaves out options for paths, for the split of
// the data, and for how often to evaluate. cpu: the model of this host's processor.
nlohmann::json training_time_key(const RunSetup& setup, const std::string& cpu);

// The key of the start-up time, which does not depend on the model. It holds the recipe, its
// plugin, and the kind and number of the plan's devices.
nlohmann::json start_time_key(const RunSetup& setup, const std::string& cpu);

// The key of prediction times. It holds the recipe, its options without paths, inputs and outputs,
// the size of the model, and the kind and number of devices. It also holds the power of two nearest
// to item_bytes, because small items cost more per byte than large ones. item_bytes: the mean size
// of the inputs; 0 = unknown.
nlohmann::json prediction_time_key(const RunSetup& setup, const std::vector<Device>& devices,
                                   double item_bytes, const std::string& cpu);

}  // namespace lockstep
