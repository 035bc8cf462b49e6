// The steps after training: --then evaluate, predict, report.
#pragma once

#include "core/devices/device.h"
#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/predictions/item_work.h"
#include "runtime/run/progress/part_times.h"
#include "tools/cli/arguments.h"
#include "tools/cli/plan/bare_keys.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct Then {
  std::vector<std::string> groups{};  // named steps that have options
  // The named steps, in the order of execution. None if another program starts the ranks (--world).
  std::vector<std::string> steps{};
  bool force = false;           // replaces existing outputs
  bool repeated = false;        // this training belongs to --seeds
  bool by_resume_auto = false;  // the same command also continues the run

  bool has(std::string_view step) const {
    return std::find(steps.begin(), steps.end(), step) != steps.end();
  }
  // A bare KEY that is not itself an option belongs to one of the groups.
  BareKeys bare_keys() const { return {.groups = groups, .options_first = true}; }
};

// Reads --then and --force. Throws Error for an unknown step, and for --force without predictions.
Then then_of(const Parsed& parsed);

// Call it before anything is prepared. run_dir: the run that resumes, or empty. Throws Error if
// there is nothing to predict, or if outputs exist that training would change. Outputs in
// RUN/predictions belong to the run and are replaced. Returns the items; 0: none, or unknown.
ItemLoad check_predictions(const RunSetup& setup, const Then& then,
                           const std::filesystem::path& run_dir, bool trains);
// For a prepared setup. Throws Error if there is no validation data to evaluate.
void check_evaluation(const RunSetup& setup, const Then& then);

// Throws Error if stop.reserve leaves no time to train, or if there is no quota.
void check_reserve(const TrainOptions& train);
// For a planned setup. If a quota must also cover predictions of items and stop.reserve is not set,
// sets it until training knows more. The value is the time of earlier predictions of such items,
// else a tenth of the quota, at most an hour. Adds to the plan's notes the time kept, and what does
// not fit.
AfterTraining reserve_time(RunSetup& setup, const Then& then, const ItemLoad& load);

// How training ended.
enum class Trained { to_the_end, until_quota };

// When the steps after training must end, on the system's monotonic clock; 0: no limit.
struct TrainingEnd {
  Trained how = Trained::to_the_end;
  double ends_s = 0;
  std::string go_on = {};  // GoOn::command; used only after a quota
};

// Executes the steps. A report shows the run at that time. Predictions use the best checkpoint if
// one is known, else the newest. After a quota only predictions and reports run. If a step fails,
// prints what is left to do. Returns exit_finished, or the exit code of the failed step, after
// which no other step runs.
int run_then(const RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
             const Then& then, const TrainingEnd& end);

}  // namespace lockstep::cli
