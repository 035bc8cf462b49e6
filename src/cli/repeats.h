// lockstep train --seeds N: the same training with several seeds, one run after the other.
#pragma once

#include "cli/arguments.h"
#include "run/run_dir.h"

#include <functional>
#include <string>

namespace lockstep::cli {

// Trains one run, as `lockstep train` with these words, and puts it into the group. Returns the
// exit code.
using TrainOne = std::function<int(const Parsed& parsed, const std::string& group)>;

// The runs NAME-s1, NAME-s2, … of the group NAME, with the seed and those that follow it. A repeat
// that fails keeps no other from running; what the user has to mend, a stop and a signal end all of
// them, and then the command is said that goes on with those that are left. With --resume auto,
// those that have finished are skipped, and the others go on. Returns the exit code of the repeat
// that ended all, else exit_failed where one failed. Throws Error before anything runs: where
// --seeds is no number, a name is taken, or the runs could not be compared.
int train_repeats(const Parsed& parsed, const TrainOne& train_one);

// The member of run.json that says which steps of --then are done.
inline constexpr const char* then_done_key = "then_done";

// Marks in the run's record that `then` is done ("evaluate,predict"), and whether it is: going on
// with repeats does not do it again.
void note_then_done(const RunDir& run, const std::string& then);
bool is_then_done(const RunDir& run, const std::string& then);

}  // namespace lockstep::cli
