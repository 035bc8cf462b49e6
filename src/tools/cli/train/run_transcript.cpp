#include "tools/cli/train/run_transcript.h"

#include "core/base/clock.h"
#include "core/base/process/host_name.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "tools/report/pages/shown.h"

namespace lockstep::cli {

RunTranscript::RunTranscript(const RunDir& run, const std::string& begins, const std::string& plan)
    : log_(run.path()), transcript_([this](std::string_view lines) { log_.write(lines); }) {
  if (!log_.fault().empty())
    say(cat("warning: ", train_log_name, " of the run is not written: ", log_.fault()));
  add_to_transcript(printable(cat("--- ", begins, " ", shown_time(system_clock().wall_s()), " on ",
                                  host_name(), ", lockstep ", version())) +
                    "\n");
  if (!plan.empty()) add_to_transcript(printable(trim(plan), "\n\t") + "\n");
}

void RunTranscript::add(const Error& error) {
  const std::string hint = error.hint().empty() ? "" : cat("\n\nhint: ", error.hint());
  add_to_transcript(printable(cat("error: ", error.what(), hint), "\n\t") + "\n");
}

}  // namespace lockstep::cli
