// Reads another program's TensorBoard log.
#pragma once

#include "tools/report/facts/facts.h"
#include "tools/report/logs/foreign_log.h"

#include <filesystem>
#include <string>

namespace lockstep {

// whether the file name is like events.out.tfevents.…
bool is_tensorboard_file(const std::string& name);
bool has_tensorboard_files(const std::filesystem::path& folder);

// Reads a file, or a folder of files in the order of their names. Each file is read as a new start
// (a first start or a resume) of the training. Several files with a common tag may have been
// written at the same time. Then only the file with the most events is read, and a caution says so.
// Only scalars are read. Data, parameters and devices are unknown. Throws Error if the path cannot
// be read, or has no scalars.
Trial read_tensorboard_trial(const std::filesystem::path& path);
// Only reads the log, and adds cautions about it to `trial`. Without scalars, the log has no
// series.
ForeignLog read_tensorboard_log(const std::filesystem::path& path, Trial& trial);

}  // namespace lockstep
