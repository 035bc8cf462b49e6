// lockstep runs: all runs, or one.
#include "base/error.h"
#include "base/text.h"
#include "cli/batch.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/run_root.h"
#include "jobs/batch_shares.h"
#include "jobs/batch_text.h"
#include "run/run_summary.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

// A line per batch.
std::string batch_lines(const std::string& root) {
  std::string lines;
  for (const std::filesystem::path& path : batches_in(root)) try {
      const BatchFolder batch{path};
      const bool runs = batch_holder(batch).has_value();
      lines += cat("batch ", path.filename().string(), ": ",
                   counts_text(ledger_to_read(batch).counts()), runs ? ", runs now" : "", "\n");
    } catch (const Error& error) {
      say(printable(
          cat("warning: batch ", path.filename().string(), " is left out: ", error.what())));
    }
  return lines;
}

// Names of folders may be anything.
int show_all(const std::string& root, bool json) {
  std::vector<RunSummary> all;
  for (const RunDir& run : list_runs(root)) try {
      all.push_back(summarize(run));
    } catch (const Error& error) {  // one that cannot be read hides no other
      say(printable(cat("warning: run ", run.name(), " is left out: ", error.what())));
    }
  std::string batches;
  if (!json) batches = batch_lines(root);
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const RunSummary& summary : all) list.push_back(summary_json(summary));
    print(json_text(list));
  } else if (all.empty() && batches.empty()) {
    say("there are no runs in " + root);
  } else {
    const std::string table = all.empty() ? "" : runs_table(all, std::max(table_width(), 60));
    print(printable(cat(table, batches.empty() ? "" : cat(table.empty() ? "" : "\n", batches)),
                    "\n"));
  }
  return 0;
}

int runs_main(const Parsed& parsed) {
  const std::string root = run_root(parsed);
  if (parsed.positionals.empty()) {
    if (parsed.has("--config"))
      throw Error("--config is about one run, but none is named",
                  "lockstep runs RUN --config; lockstep runs lists them");
    return show_all(root, parsed.has("--json"));
  }
  const RunDir run = RunDir::open(parsed.positionals[0], root);
  if (parsed.has("--json")) {
    print(json_text(run_json(run)));
    return 0;
  }
  constexpr int widest = 100;
  print(printable(
      run_page(run, {.config = parsed.has("--config"), .width = std::min(text_width(), widest)}),
      "\n"));
  return 0;
}

}  // namespace

Command runs_command() {
  return {
      .name = "runs",
      .operands = "[RUN] [run.root=DIR]",
      .summary = "list runs with state, step, loss, devices, age; or show one",
      .details = run_operand_help,
      .flags = {{"--config", "", "of one run: its configuration too"}, {"--json", "", "as JSON"}},
      .max_positionals = 1,
      .takes_assignments = true,
      .only_options = {"run.root"},
      .complete = "run",
      .run = runs_main,
      .tried_flags = {tried_root()}};
}

}  // namespace lockstep::cli
