// Finds another program's log in or below a folder that the user named: Lightning's
// lightning_logs/version_N, Transformers' OUT/runs/DATE, Keras' train and validation, add_scalars'
// folder per line, and stores of experiment trackers.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <string>

namespace lockstep {

// folder: neither a run nor a batch. If several logs lie below it, none is read, and the Error
// names them. If there is none, the Error says what was searched for.
Trial read_log_folder(const std::filesystem::path& folder);

}  // namespace lockstep
