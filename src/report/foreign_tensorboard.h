// A TensorBoard log of another program.
#pragma once

#include "report/facts.h"
#include "report/foreign_log.h"

#include <filesystem>
#include <string>

namespace lockstep {

bool is_tensorboard_file(const std::string& name);  // events.out.tfevents.…
bool has_tensorboard_files(const std::filesystem::path& folder);

// A file, or a folder of them, which are read in the order of their names, each as a new start. Of
// files that were written at the same time with the same tags, the one with the most events counts,
// which a caution says. Scalars alone. Of data,
// parameters and devices nothing is known. Throws Error where none can be read.
Trial read_tensorboard_trial(const std::filesystem::path& path);
// The first half of that, without series where there are no scalars; cautions go to `trial`.
ForeignLog read_tensorboard_log(const std::filesystem::path& path, Trial& trial);

}  // namespace lockstep
