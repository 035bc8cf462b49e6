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

// Runs NAME-s1, NAME-s2, … of the group NAME, with the seed and the following ones. A failed repeat
// does not keep others from running. A user's error, a stop and a signal end all; then the command
// to resume with the remaining ones is printed. With --resume auto, finished repeats are skipped,
// and the others resume. Returns the exit code of the repeat that ended all, else exit_failed if
// one failed. Throws Error before anything runs if --seeds is no number, a name is taken, or the
// runs could not be compared.
int train_repeats(const Parsed& parsed, const TrainOne& train_one);

// The member of run.json that lists finished steps of --then.
inline constexpr const char* then_done_key = "then_done";

// Record in the run that `then` is done ("evaluate,predict"), and read it: resuming repeats does
// not do it again.
void note_then_done(const RunDir& run, const std::string& then);
bool is_then_done(const RunDir& run, const std::string& then);

}  // namespace lockstep::cli
