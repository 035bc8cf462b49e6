// What decides how much memory a rank takes, as a key of what was measured.
#pragma once

#include "plan/run_setup.h"

#include <nlohmann/json.hpp>

namespace lockstep {

// The recipe with all its options but those of the group `sample`, the engine's options, and the
// facts of model and data that preparing found. Left out are the engine's options that cost no
// memory, and the sizes of the batch: what is measured says for which micro-batch. So an option
// that comes new counts unless it is named in memory_key.cpp.
nlohmann::json memory_key(const RunSetup& setup);

}  // namespace lockstep
