// Under which keys it is known how long something takes.
#pragma once

#include "planning/run_setup.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

// Of training: all that decides memory (planning/memory/measured_memory.h) but where the data lies
// and when it is evaluated, the batch, and the kind and number of the plan's devices. cpu: the
// model of this host's processor.
nlohmann::json training_time_key(const RunSetup& setup, const std::string& cpu);

// Of a start, whatever the model: the recipe, and the kind and number of the plan's devices.
nlohmann::json start_time_key(const RunSetup& setup, const std::string& cpu);

// Of predicting: the recipe, its options but for inputs and outputs, the size of the model, and the
// kind and number of devices.
nlohmann::json prediction_time_key(const RunSetup& setup, const std::vector<Device>& devices,
                                   const std::string& cpu);

}  // namespace lockstep
