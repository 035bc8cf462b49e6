// Training runs: creates and resumes them, and runs the steps after them.
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

// Flags that train and resume share. plan also has --then and --force from them, and --name and
// --resume from train.
std::vector<Flag> training_flags();
std::vector<Flag> then_flags();
std::vector<Flag> resume_auto_flags();

// Launches the ranks, reports how they ended, and then runs the steps of `then`, at the end of
// training and after a quota. run: locked and started. resuming: starts from its newest checkpoint.
int train_run(RunSetup setup, RunDir& run, bool resuming, const Then& then);

// Prepares the data of an existing run. Returns how its evaluations will differ from earlier ones,
// or "". Throws Error if the data is not the data with which the run began.
std::string prepare_same_data(RunSetup& setup, const RunDir& run,
                              const std::vector<Device>& devices);

// Prepares and plans a run that resumes on `devices` after `step` steps. may_try: batch.micro=auto
// may try candidates.
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
  bool trains = true;             // existing outputs would then come from other weights
  bool may_try = false;           // batch.micro=auto may try candidates
  bool needs_checkpoint = false;  // false: a missing checkpoint means starting at the beginning
};
// Checks, prepares and plans the rest of a run. setup: from resolve_resume. Throws Error.
Resumption plan_resumption(RunSetup& setup, const RunDir& run, const Then& then,
                           const std::vector<Device>& devices, const ResumeChecks& checks);

// The run that `train RECIPE --resume auto` resumes: the one of --name, or the recipe's newest.
// Nothing if there is none, or if --resume does not ask for one. Throws Error if --resume is
// neither auto nor never.
std::optional<RunDir> run_to_resume(const Parsed& parsed, const RunSetup& setup);

// The devices of --world, else of --devices. Throws Error if this build cannot run on them.
std::vector<Device> training_devices(const Parsed& parsed);

// Whether the present options ask for a later end than the one the run reached.
bool goes_further(const RunSetup& setup, const RunDir& run);

// For a finished run that does not go further. Says which of the present options of training differ
// from the run's, since they have no effect.
void say_unused_changes(const RunSetup& setup, const RunDir& run);

// Creates a run with the contents that `fill` writes, atomically: if `fill` fails, or an interrupt
// comes, nothing is left. During long work, `fill` calls its second argument from time to time,
// which throws after an interrupt. Throws Error, ToldAlready.
using FillRun = std::function<void(RunDir&, const std::function<void()>& leave_if_interrupted)>;
RunDir make_run(const std::filesystem::path& root, const std::string& name,
                const std::string& recipe, const FillRun& fill);

// Hands a prepared run over to ranks that another program started: sends rank 0 the run's path and
// lock. Returns the exit code.
int hand_over(const Parsed& parsed, RunDir& run);

// Writes run.json (and recipe files) without launching ranks.
void write_start(const RunSetup& setup, RunDir& run, bool resuming);

// Resumes as `lockstep resume` does. into: the name of a new run, or empty.
int resume_run(const Parsed& parsed, RunDir run, const std::string& into);

// Prints the result of the run's last evaluation and returns true, if its newest checkpoint has the
// same weights. Otherwise returns false.
bool print_last_evaluation(const RunDir& run);

// How to read a run. items: the file for evaluate's table of items; empty: its place in the run.
// weights, outputs: as in RunSource. force: makes everything again. replace: replaces existing
// outputs, except those made from the same data with the same settings.
struct ReadOptions {
  bool best = false, json = false, force = false, replace = false;
  std::filesystem::path items = {};
  std::filesystem::path weights = {};
  std::filesystem::path outputs = {};
  std::string root = {};   // where predict.also searches runs by name
  std::string again = {};  // the command that resumes a prediction of items, or ""
  // Items that would end after this time, on the system's monotonic clock, are not begun; 0: no
  // limit.
  double ends_s = 0;
};

// Used by the commands of these names. predict uses as many devices as there is work for; only one
// if it streams a text.
int evaluate(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
             const ReadOptions& reading);
int predict(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
            const ReadOptions& reading, const std::vector<std::string>& inputs = {});

}  // namespace lockstep::cli
