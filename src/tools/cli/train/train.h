// Functions that create, resume and read training runs, for the commands of the tool.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/progress/forecast.h"
#include "tools/cli/arguments.h"
#include "tools/cli/train/then.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// Flags that several commands have:
// - training_flags: the flags that train and resume share.
// - then_flags: --then and --force. training_flags contains them, and the command plan has them
// too.
// - resume_auto_flags: --name and --resume of train and plan.
std::vector<Flag> training_flags();
std::vector<Flag> then_flags();
std::vector<Flag> resume_auto_flags();

// Launches the ranks, reports how they ended, and then runs the steps of `then`. The steps run
// after completed training, and also if a quota of time stopped the training. run: it must be
// locked, and write_start must have written its record. resuming: whether the ranks start from the
// newest checkpoint. Returns the exit code.
int train_run(RunSetup setup, RunDir& run, bool resuming, const Then& then);

// Prepares the data of an existing run. Returns a description of how its evaluations will differ
// from earlier ones, or "" if they will not differ. Throws Error if the data is not the data with
// which the run began.
std::string prepare_same_data(RunSetup& setup, const RunDir& run,
                              const std::vector<Device>& devices);

// Prepares and plans a run that resumes on `devices` after `step` steps. may_try: whether
// micro-batches may be tried on the devices if batch.micro is auto.
void plan_again(RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
                std::int64_t step, bool may_try);

// Facts about a run before it resumes.
struct Resumption {
  ItemLoad items{};  // the items that `then` predicts
  std::optional<CheckpointInfo> checkpoint;
  std::int64_t step() const { return checkpoint ? checkpoint->step : 0; }
  Begun begun() const { return {step(), checkpoint ? elapsed_s(*checkpoint) : 0}; }
};
struct ResumeChecks {
  // whether training will change the weights, so that existing outputs would be out of date
  bool trains = true;
  bool may_try = false;  // as for plan_again
  // whether a run without a checkpoint is an error; if false, it starts again at step 0
  bool needs_checkpoint = false;
};
// Checks, prepares and plans the rest of a run. setup: the result of resolve_resume. Throws Error
// if the run cannot resume with this setup.
Resumption plan_resumption(RunSetup& setup, const RunDir& run, const Then& then,
                           const std::vector<Device>& devices, const ResumeChecks& checks);

// Returns the run that `train RECIPE --resume auto` resumes: the run named by --name, or else the
// recipe's newest. Returns nothing if there is no such run, or if --resume is absent or `never`.
// Throws Error if --resume is neither auto nor never.
std::optional<RunDir> run_to_resume(const Parsed& parsed, const RunSetup& setup);

// Returns the devices that --world names, or else the devices that --devices names. Throws Error if
// this build cannot run on them.
std::vector<Device> training_devices(const Parsed& parsed);

// Whether stop.steps, stop.epochs, stop.patience or stop.patience_epochs differs from the run's
// record.
bool goes_further(const RunSetup& setup, const RunDir& run);

// Call it for a finished run whose training does not continue. Prints the requested training
// options that differ from the run's record, because they have no effect.
void say_unused_changes(const RunSetup& setup, const RunDir& run);

// Creates a run atomically, with the contents that `fill` writes. If `fill` fails or an interrupt
// comes, nothing is left. During long work, `fill` must call its second argument from time to time.
// That call throws ToldAlready after an interrupt. Throws Error if the run cannot be created.
using FillRun = std::function<void(RunDir&, const std::function<void()>& leave_if_interrupted)>;
RunDir make_run(const std::filesystem::path& root, const std::string& name,
                const std::string& recipe, const FillRun& fill);

// Hands a prepared run over to ranks that another program started. Prints the run's path, and
// passes the lock to rank 0 through --lock-socket. Returns the exit code.
int hand_over(const Parsed& parsed, RunDir& run);

// Writes run.json without launching ranks. For a new run, also copies the files that the recipe
// keeps.
void write_start(const RunSetup& setup, RunDir& run, bool resuming);

// Resumes the run as `lockstep resume` does. into: the name of the new run if --into is given, else
// empty. Returns the exit code.
int resume_run(const Parsed& parsed, RunDir run, const std::string& into);

// If the run's last evaluation was of the weights of its newest checkpoint, prints its result and
// returns true. Otherwise prints nothing and returns false.
bool print_last_evaluation(const RunDir& run);

// How evaluate and predict read a run. items: the file for the table of items that evaluate writes;
// if empty, the table is written into the run. weights, outputs: as in RunSource. force: whether to
// predict all items again. replace: whether to replace existing outputs, except outputs of the same
// data and settings.
struct ReadOptions {
  bool best = false, json = false, force = false, replace = false;
  std::filesystem::path items = {};
  std::filesystem::path weights = {};
  std::filesystem::path outputs = {};
  std::string root = {};   // folder in which predict.also finds runs by name
  std::string again = {};  // command that resumes a prediction of items, or ""
  // An item that would end after this time is not begun. The time is in seconds on the system's
  // monotonic clock; 0 means no limit.
  double ends_s = 0;
};

// The commands `evaluate` and `predict`. predict uses at most as many devices as it has work for,
// and one device if it streams a text. Both return the exit code.
int evaluate(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
             const ReadOptions& reading);
int predict(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
            const ReadOptions& reading, const std::vector<std::string>& inputs = {});

}  // namespace lockstep::cli
