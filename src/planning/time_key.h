// The keys under which measured times are recorded.
#pragma once

#include "planning/run_setup.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

// The key of training times. It holds all that decides memory (planning/memory/measured_memory.h),
// except where the data lies, how it is split, and when it is evaluated. It also holds the batch,
// and the kind and number of the plan's devices. cpu: the model of this host's processor.
nlohmann::json training_time_key(const RunSetup& setup, const std::string& cpu);

// The key of the time that a start takes, whatever the model: the recipe, and the kind and number
// of the plan's devices.
nlohmann::json start_time_key(const RunSetup& setup, const std::string& cpu);

// The key of predicting times: the recipe, its options but for inputs and outputs, the size of the
// model, the kind and number of devices, and the power of two nearest to item_bytes. A small item
// says little of a large one: it costs more per byte. item_bytes: the mean of the inputs; 0:
// unknown.
nlohmann::json prediction_time_key(const RunSetup& setup, const std::vector<Device>& devices,
                                   double item_bytes, const std::string& cpu);

}  // namespace lockstep
