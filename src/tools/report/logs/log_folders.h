// Finds another program's log in a folder that the user named, or below it. It knows Lightning's
// lightning_logs/version_N, Transformers' OUT/runs/DATE, and Keras' train and validation. It also
// knows the folders that SummaryWriter.add_scalars makes, one for each curve, and stores of
// experiment trackers.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <string>

namespace lockstep {

// Reads the log in or below a folder that is neither a run nor a batch. If several logs lie below
// it, they may be the starts of one Trainer of Transformers. Then trainer_state.json or the newest
// checkpoint is read, which has the numbers of all starts. Throws Error, which names the logs, if
// there are several others. If there is neither a log nor a checkpoint, the error says what was
// searched for.
Trial read_log_folder(const std::filesystem::path& folder);

}  // namespace lockstep
