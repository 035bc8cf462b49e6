// A TensorBoard log of another program.
#pragma once

#include "report/facts.h"

#include <filesystem>
#include <string>

namespace lockstep {

bool is_tensorboard_file(const std::string& name);  // events.out.tfevents.…
bool has_tensorboard_files(const std::filesystem::path& folder);

// A file, or a folder of them, which are read in the order of their names. Scalars alone. Of data,
// parameters and devices nothing is known. Throws Error where none can be read.
Trial read_tensorboard_trial(const std::filesystem::path& path);

}  // namespace lockstep
