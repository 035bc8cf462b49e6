// Training runs: creating, resuming, and what follows them.
#pragma once

#include "cli/arguments.h"
#include "cli/then.h"
#include "plan/run_setup.h"
#include "run/checkpoint_index.h"
#include "run/run_dir.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// Flags that train and resume share; of them --then and --force, and of train --name and --resume,
// plan has too.
std::vector<Flag> training_flags();
std::vector<Flag> then_flags();
std::vector<Flag> resume_auto_flags();

// Launches the ranks, reports, then does what `then` names: after the end, and after a quota. run:
// locked and started. resuming: from its newest checkpoint.
int train_run(RunSetup setup, RunDir& run, bool resuming, const Then& then);

// Prepares and plans a run that goes on, on `devices`. may_try: batch.micro=auto may try out.
void plan_again(RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
                bool may_try);

// A run that goes on, before it does.
struct Resumption {
  std::int64_t items = 0;  // that `then` predicts
  std::optional<CheckpointInfo> checkpoint;
  std::int64_t step() const { return checkpoint ? checkpoint->step : 0; }
};
struct ResumeChecks {
  bool trains = true;             // so that outputs that are there would be of other weights
  bool may_try = false;           // batch.micro=auto may try out
  bool needs_checkpoint = false;  // else one that is missing means the beginning
};
// Checks, prepares and plans what is left of a run. setup: by resolve_resume. Throws Error.
Resumption plan_resumption(RunSetup& setup, const RunDir& run, const Then& then,
                           const std::vector<Device>& devices, const ResumeChecks& checks);

// The run that `train RECIPE --resume auto` goes on with: --name, or the recipe's newest. Nothing
// where there is none, or --resume does not ask for one. Throws Error where it is neither auto nor
// never.
std::optional<RunDir> run_to_resume(const Parsed& parsed, const RunSetup& setup);

// The devices of --world, else of --devices; throws Error if this build cannot run on them.
std::vector<Device> training_devices(const Parsed& parsed);

// Whether the options given now ask for another end than the run had.
bool goes_further(const RunSetup& setup, const RunDir& run);

// Makes a run with what `fill` puts into it, all at once: if that fails, or an interrupt comes,
// nothing is left. What takes long calls its second argument now and then, which throws after an
// interrupt. Throws Error, ToldAlready.
using FillRun = std::function<void(RunDir&, const std::function<void()>& leave_if_interrupted)>;
RunDir make_run(const std::filesystem::path& root, const std::string& name,
                const std::string& recipe, const FillRun& fill);

// Leaves a run that is set up to the ranks that somebody else started: tells rank 0 its path, and
// gives it the lock. The exit code.
int hand_over(const Parsed& parsed, RunDir& run);

// Writes run.json (and recipe files) without launching.
void write_start(const RunSetup& setup, RunDir& run, bool resuming);

// Resumes as `lockstep resume`; into: name of a new run, or empty.
int resume_run(const Parsed& parsed, RunDir run, const std::string& into);

// Prints what the run's last evaluation found if its newest checkpoint holds the same weights;
// false if not.
bool print_last_evaluation(const RunDir& run);

// How a run is read. items: the file for evaluate's table of items, empty for its place in the run.
// weights, outputs: as RunSource has them. force: all is made again; replace: only what is not made
// of the same with the same, in place of outputs that are there.
struct ReadOptions {
  bool best = false, json = false, force = false, replace = false;
  std::filesystem::path items = {};
  std::filesystem::path weights = {};
  std::filesystem::path outputs = {};
  std::string root = {};   // where predict.also looks for runs by name
  std::string again = {};  // the command that goes on with a prediction of items, or ""
  // Items that would end later than this, on the system's monotonic clock, are not begun; 0: all
  // are.
  double ends_s = 0;
};

// Shared with the commands of those names. predict: of all devices as many are used as there is
// work for; one where a text is streamed.
int evaluate(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
             const ReadOptions& reading);
int predict(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
            const ReadOptions& reading, const std::vector<std::string>& inputs = {});

}  // namespace lockstep::cli
