// lockstep train --seeds N: the same training with several seeds, one run after another.
#pragma once

#include "runtime/run/folder/run_dir.h"
#include "tools/cli/arguments.h"

#include <functional>
#include <string>

namespace lockstep::cli {

// Trains one run, like `lockstep train` with these words, and puts it into the group. Returns the
// exit code.
using TrainOne = std::function<int(const Parsed& parsed, const std::string& group)>;

// Runs NAME-s1, NAME-s2, … of the group NAME, with the seed and the following seeds. If a repeat
// fails, the others still run. A user's error, a stop or a signal ends all of them, and prints the
// command that resumes and runs the remaining ones. With --resume auto, finished repeats are
// skipped, and the others resume. Returns the exit code of the repeat that ended all, else
// exit_failed if one failed. Throws Error before anything runs if --seeds is no number, a name is
// taken, or the runs could not be compared.
int train_repeats(const Parsed& parsed, const TrainOne& train_one);

// The member of run.json that lists finished steps of --then.
inline constexpr const char* then_done_key = "then_done";

// Records in the run that the steps `then` are done ("evaluate,predict"), and reads that. So
// resuming repeats does not do them again.
void note_then_done(const RunDir& run, const std::string& then);
bool is_then_done(const RunDir& run, const std::string& then);

}  // namespace lockstep::cli
