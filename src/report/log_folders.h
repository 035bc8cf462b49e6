// Folders as people name them, in or below which a log of another program lies: Lightning's
// lightning_logs/version_N, Transformers' OUT/runs/DATE, Keras' train and validation, add_scalars'
// folder per line, and stores of experiment trackers.
#pragma once

#include "report/facts.h"

#include <filesystem>
#include <string>

namespace lockstep {

// folder: neither a run nor a batch. Of several logs below it none is taken: Error names them.
// Throws Error, too, where there is none, which says what was looked for.
Trial read_log_folder(const std::filesystem::path& folder);

}  // namespace lockstep
