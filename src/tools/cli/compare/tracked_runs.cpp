#include "tools/cli/compare/tracked_runs.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text/columns.h"
#include "core/base/text/text.h"
#include "tools/cli/context.h"
#include "tools/report/pages/page.h"
#include "tools/report/pages/shown.h"
#include "tools/report/reports/trial_report.h"
#include "tools/report/trackers/tracker_store.h"

namespace lockstep::cli {
namespace {

nlohmann::json tracked_json(const std::vector<TrackedRun>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const TrackedRun& run : runs)
    list.push_back(
        {{"name", run.name},
         {"id", run.id},
         {"experiment", run.experiment},
         {"state", run.state},
         {"started", std::isfinite(run.started) ? nlohmann::json(run.started) : nlohmann::json()}});
  return list;
}

std::string tracked_table(const std::vector<TrackedRun>& runs) {
  std::vector<std::vector<std::string>> rows{{"NAME", "EXPERIMENT", "STATE", "STARTED", "ID"}};
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const TrackedRun& run : runs)
    rows.push_back({or_dash(run.name), or_dash(run.experiment), or_dash(run.state),
                    std::isfinite(run.started) ? shown_time(run.started) : "-", run.id});
  return columns(rows);
}

void refuse_labels(const Parsed& parsed) {
  for (const char* flag : {"--tag", "--untag", "--note", "--config"})
    if (parsed.has(flag))
      throw Error(cat(flag, " is about runs of Lockstep, but ", printable(parsed.positionals[0]),
                      " is a store of an experiment tracker, which is only read"),
                  cat("leave out ", flag));
}

}  // namespace

bool show_tracked_runs(const Parsed& parsed) {
  const std::optional<TrackedWord> word = tracked_word(parsed.positionals.at(0));
  if (!word) return false;
  refuse_labels(parsed);
  if (!word->run.empty()) {
    const std::vector<Trial> trials{read_tracked_trial(*word)};
    print(parsed.has("--json") ? json_text(trials_json(trials))
                               : trim(markdown_of(trials_page(trials, CurveAxis::step))));
    return true;
  }
  const std::vector<TrackedRun> runs = open_tracker_store(word->store)->runs();
  if (parsed.has("--json"))
    print(json_text(tracked_json(runs)));
  else if (runs.empty())
    say(cat("there are no runs in ", printable(word->store.string())));
  else
    print(trim(tracked_table(runs)));
  return true;
}

}  // namespace lockstep::cli
