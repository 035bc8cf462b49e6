#include "runtime/launch/restart.h"

#include "core/base/text/text.h"

namespace lockstep {

LaunchOutcome launch_with_restarts(const LaunchSpec& spec, Clock& clock, int restarts,
                                   const OnRestart& on_restart) {
  LaunchSpec numbered = spec;
  for (int restart = 0;; ++restart) {
    numbered.environment["LOCKSTEP_RESTART"] = cat(restart);
    numbered.restart = restart;
    numbered.most_restarts = restarts;
    if (restart > 0 && !spec.log_mark.empty())
      numbered.log_mark = cat(spec.log_mark, ", restart ", restart);
    LaunchOutcome outcome = launch(numbered, clock);
    const auto* failure = std::get_if<RankFailed>(&outcome);
    if (!failure || restart >= restarts) return outcome;
    if (on_restart) on_restart(restart + 1, *failure);
  }
}

}  // namespace lockstep
