// `lockstep train --seeds N`: the same training with several seeds, one run after another.
#pragma once

#include "runtime/run/folder/run_dir.h"
#include "tools/cli/arguments.h"

#include <functional>
#include <string>

namespace lockstep::cli {

// Trains one run as `lockstep train` with these arguments does, and records the group in the run.
// Returns the exit code.
using TrainOne = std::function<int(const Parsed& parsed, const std::string& group)>;

// Trains the runs NAME-s1, NAME-s2, … of the group NAME, with consecutive seeds. If a rank of a
// repeat fails, the other repeats still run. A user's error, a stop or a signal ends all repeats.
// If not all repeats finish, prints the command that resumes them. With --resume auto, finished
// repeats are skipped, and the others resume. Returns the exit code of the last repeat that did not
// finish, or exit_finished. Throws Error before anything runs if --seeds is not a number, a name is
// taken, or the runs could not be compared.
int train_repeats(const Parsed& parsed, const TrainOne& train_one);

// The key in run.json for the finished steps of --then.
inline constexpr const char* then_done_key = "then_done";

// Records in the run that the steps `then` ("evaluate,predict") are done, and reads that record.
// With this record, resumed repeats do not execute the steps again.
void note_then_done(const RunDir& run, const std::string& then);
bool is_then_done(const RunDir& run, const std::string& then);

}  // namespace lockstep::cli
