#include "tools/cli/train/go_on.h"

#include "core/base/text/text.h"
#include "runtime/run/progress/forecast.h"
#include "tools/cli/context.h"

namespace lockstep::cli {

std::string GoOn::text() const {
  return cat("go on with", same_command ? " the same command, or with: " : ": ", command);
}

GoOn go_on_with(const std::filesystem::path& run, const RunSetup& setup, const Then& then,
                const StoppedRun& stopped) {
  const TrainOptions& train = *setup.train;
  const OptionTable& recipe = setup.options->table;
  const bool has_own_folder = !recipe.has(out_key) || recipe.get(out_key).empty();
  // Predictions outside the run are replaced only with --force.
  const bool needs_force = stopped.predicts && then.has("predict") && !has_own_folder;
  std::string command = cat("lockstep resume ", shell_word(run.string()));
  if (!then.steps.empty()) command += cat(" --then ", join(then.steps, ","));
  if (needs_force || (then.force && !then.steps.empty())) command += " --force";
  if (train.stop.after.seconds > 0)
    command += cat(" stop.after=", format_duration(train.stop.after));
  if (train.table.is_asked_for("stop.reserve"))
    command += cat(" stop.reserve=", format_duration(train.stop.reserve));
  if (stopped.spent_s > 0) command += cat(" ", raised_budget(train, stopped.spent_s));
  return {
      .command = command,
      .same_command = then.by_resume_auto && stopped.spent_s <= 0 && (then.force || !needs_force)};
}

}  // namespace lockstep::cli
