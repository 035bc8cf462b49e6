// Reads another program's TensorBoard log.
#pragma once

#include "tools/report/facts/facts.h"
#include "tools/report/logs/foreign_log.h"

#include <filesystem>
#include <string>

namespace lockstep {

bool is_tensorboard_file(const std::string& name);  // events.out.tfevents.…
bool has_tensorboard_files(const std::filesystem::path& folder);

// Reads a file, or a folder of files in the order of their names, each as a new start. If several
// files were written at the same time with the same tags, only the one with the most events counts,
// and a caution says so. Only scalars are read. Data, parameters and devices are unknown. Throws
// Error if nothing can be read.
Trial read_tensorboard_trial(const std::filesystem::path& path);
// Only reads the log. It has no series if there are no scalars. Cautions go to `trial`.
ForeignLog read_tensorboard_log(const std::filesystem::path& path, Trial& trial);

}  // namespace lockstep
