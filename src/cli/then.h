// What follows training: --then evaluate, predict, report.
#pragma once

#include "cli/arguments.h"
#include "cli/bare_keys.h"
#include "devices/device.h"
#include "plan/run_setup.h"
#include "run/part_times.h"
#include "run/run_dir.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct Then {
  std::vector<std::string> groups{};  // what --then names and has options
  // What it names, in the order in which it is done; none where others start the ranks (--world).
  std::vector<std::string> steps{};
  bool force = false;     // replaces outputs that are there already
  bool repeated = false;  // this training is one of --seeds

  bool has(std::string_view step) const;
  // A bare KEY that is no option itself is of one of the groups.
  BareKeys bare_keys() const { return {.groups = groups, .options_first = true}; }
};

// Of --then and --force. Throws Error for what is no step, and for --force without predictions.
Then then_of(const Parsed& parsed);

// Before anything is prepared. run_dir: of the run that goes on, or empty. Throws Error where there
// is nothing to predict, and where outputs are there already that training would make other ones
// of. Those in RUN/predictions are the run's own: they are replaced. Returns how many items there
// are; 0: none, or not known.
std::int64_t check_predictions(const RunSetup& setup, const Then& then,
                               const std::filesystem::path& run_dir, bool trains);
// Of a setup that is prepared: throws Error where there is no validation data to evaluate.
void check_evaluation(const RunSetup& setup, const Then& then);

// Throws Error where stop.reserve leaves no time to train, or there is no quota.
void check_reserve(const TrainOptions& train);
// Of a setup that is planned. Sets stop.reserve where a quota is to hold predictions of items too
// and nothing is set: to what earlier predictions took, else to a tenth of the quota, an hour at
// most, until training knows more. Adds to the plan's notes what is kept, and what does not fit.
AfterTraining reserve_time(RunSetup& setup, const Then& then, std::int64_t items);

// How training ended.
enum class Trained { to_the_end, until_quota };

// Until when what follows may take, on the system's monotonic clock; 0: there is no limit.
struct TrainingEnd {
  Trained how = Trained::to_the_end;
  double ends_s = 0;
};

// Takes the steps, a report of the run as it is then: predictions by the best checkpoint where one
// is known, else the newest. After a quota predictions and reports alone. Says what is left to do
// where one fails. Returns the exit code: exit_finished, or that of the step that failed, after
// which there are no others.
int run_then(const RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
             const Then& then, const TrainingEnd& end);

}  // namespace lockstep::cli
