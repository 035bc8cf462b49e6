// The steps that --then adds after training: evaluate, predict, report.
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
  // the steps of --then that have options of their own: "evaluate" has the options evaluate.NAME
  std::vector<std::string> groups{};
  // All steps of --then, in the order of execution. Empty if another program starts the ranks
  // (--world).
  std::vector<std::string> steps{};
  bool force = false;     // whether existing outputs are replaced
  bool repeated = false;  // whether this training is one of the repeats of --seeds
  // whether the command has --resume auto, so that the same command also resumes the run
  bool by_resume_auto = false;

  bool has(std::string_view step) const {
    return std::find(steps.begin(), steps.end(), step) != steps.end();
  }
  // How to read a KEY of KEY=VALUE on the command line. A KEY that is no option by itself stands
  // for GROUP.KEY, where GROUP is the one of `groups` that has such an option.
  BareKeys bare_keys() const { return {.groups = groups, .options_first = true}; }
};

// Reads --then and --force. Throws Error for an unknown step, and for --force without the step
// predict.
Then then_of(const Parsed& parsed);

// Call it before the recipe prepares its data, so that a mistake is reported early. run_dir: the
// run that resumes, or empty. trains: whether training follows, which makes existing outputs out of
// date. Returns the number and size of the items to predict. The number is 0 if nothing is
// predicted, or if the number is unknown. Throws Error if --then predict finds no items. Also
// throws Error if training follows and outputs exist in the folder that predict.out names, unless
// --force is given. Without predict.out, outputs go to RUN/predictions and replace existing ones.
ItemLoad check_predictions(const RunSetup& setup, const Then& then,
                           const std::filesystem::path& run_dir, bool trains);
// setup: must be prepared. Throws Error if --then evaluate is given and there is no validation
// data.
void check_evaluation(const RunSetup& setup, const Then& then);

// A quota is stop.after or stop.budget. stop.reserve is the part of it that is kept for the steps
// after training. Throws Error if stop.reserve is set and no quota is set. Also throws Error if
// stop.reserve leaves no time to train.
void check_reserve(const TrainOptions& train);
// setup: must be planned. If items are predicted within a quota and stop.reserve is not set, sets
// stop.reserve to an estimate. The estimate is the time that such predictions took earlier, with a
// margin. Without earlier predictions, it is a tenth of the quota, but at most an hour; an
// evaluation during training may later raise the estimate. Adds notes to the plan: the reserved
// time, and a warning if the predictions do not fit. Returns which predictions follow.
AfterTraining reserve_time(RunSetup& setup, const Then& then, const ItemLoad& load);

// How training ended: completely, or stopped by a quota.
enum class Trained { to_the_end, until_quota };

struct TrainingEnd {
  Trained how = Trained::to_the_end;
  double ends_s = 0;  // when --then predict must end, on the monotonic clock; 0 for no limit
  // the command that resumes the run (GoOn::command); used only if `how` is until_quota
  std::string go_on = {};
};

// Executes the steps in order. The step "report" shows the run as it is when that step begins, so
// later steps are not in the report. Predictions use the best checkpoint if one is known, else the
// newest. After a quota, no evaluation is computed; the last one is printed if it is of the newest
// checkpoint. If a step fails, the steps after it are not executed, and its exit code is returned.
// If predictions fail, prints the command that predicts the remaining items. Returns exit_finished
// if no step fails.
int run_then(const RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
             const Then& then, const TrainingEnd& end);

}  // namespace lockstep::cli
