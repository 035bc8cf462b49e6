// lockstep runs: all runs, or one.
#include "cli/commands.h"
#include "cli/context.h"
#include "plan/train_options.h"
#include "run/run_summary.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

int show_all(const std::string& root, bool json) {
  std::vector<RunSummary> all;
  for (const RunDir& run : list_runs(root)) all.push_back(summarize(run));
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const RunSummary& summary : all) list.push_back(summary_json(summary));
    print(list.dump(2));
  } else if (all.empty()) {
    say("there are no runs in " + root);
  } else {
    print(runs_table(all, std::max(terminal_width(), 60)));
  }
  return 0;
}

int runs_main(const Parsed& parsed) {
  const std::string root = parsed.value("--root", TrainOptions().run.root);
  if (parsed.positionals.empty()) return show_all(root, parsed.has("--json"));
  const RunDir run = RunDir::open(parsed.positionals[0], root);
  print(parsed.has("--json") ? run_json(run).dump(2) : run_page(run));
  return 0;
}

}  // namespace

Command runs_command() {
  return {.name = "runs",
          .operands = "[RUN]",
          .summary = "list runs with state, step, loss, devices, age; or show one",
          .flags = {{"--root", "DIR", "where runs lie (default runs)", "file"},
                    {"--json", "", "as JSON"}},
          .max_positionals = 1,
          .complete = "run",
          .run = runs_main};
}

}  // namespace lockstep::cli
