// Reads another program's TensorBoard log.
#pragma once

#include "tools/report/facts/facts.h"
#include "tools/report/logs/foreign_log.h"

#include <filesystem>
#include <string>

namespace lockstep {

// whether the name is like events.out.tfevents.…
bool is_tensorboard_file(const std::string& name);
bool has_tensorboard_files(const std::filesystem::path& folder);

// Reads a file, or a folder of files in the order of their names. Each file is read as a new start.
// Several files with a common tag may have been written at the same time. Then only the one with
// the most events is read, and a caution says so. Only scalars are read. Data, parameters and
// devices are unknown. Throws Error if nothing can be read.
Trial read_tensorboard_trial(const std::filesystem::path& path);
// Only reads the log, which has no series if there are no scalars. Cautions are added to `trial`.
ForeignLog read_tensorboard_log(const std::filesystem::path& path, Trial& trial);

}  // namespace lockstep
