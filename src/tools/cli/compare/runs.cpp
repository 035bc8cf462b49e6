// Implements `lockstep runs`, which shows all runs or one.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/folder/run_summary.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/commands.h"
#include "tools/cli/compare/tracked_runs.h"
#include "tools/cli/context.h"
#include "tools/cli/run_root.h"
#include "tools/cli/train/follow_run.h"
#include "tools/jobs/analysis/batch_text.h"
#include "tools/jobs/files/batch_shares.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

bool has_all(const RunLabels& labels, const std::vector<std::string>& tags) {
  return std::all_of(tags.begin(), tags.end(),
                     [&](const std::string& tag) { return labels.has(tag); });
}

// A line per batch that has the tags.
std::string batch_lines(const std::string& root, const std::vector<std::string>& tags) {
  constexpr double longest_s = 5;  // CPU time for one batch
  std::string lines;
  for (const std::filesystem::path& path : batches_in(root)) try {
      const BatchFolder batch{path};
      const RunLabels labels = read_labels(path, nullptr);
      if (!has_all(labels, tags)) continue;
      const bool runs = batch_holder(batch).has_value();
      lines +=
          cat("batch ", printable(path.filename().string()), ": ",
              counts_text(ledger_to_read(batch, longest_s).counts()), runs ? ", runs now" : "",
              labels.tags.empty() ? "" : cat("; tags ", printable(join(labels.tags, ","))), "\n");
    } catch (const std::exception& error) {  // an unreadable batch does not stop the others
      say(printable(
          cat("warning: batch ", path.filename().string(), " is left out: ", error.what())));
    }
  return lines;
}

// Lists all runs. An entry whose folder cannot be read is reported. tags: only runs that have them;
// empty = all.
int show_all(const std::string& root, const std::vector<std::string>& tags, bool json) {
  std::vector<RunSummary> all;
  for (const RunDir& run : list_runs(root)) try {
      RunSummary summary = summarize(run);
      if (!summary.problem.empty())
        say(printable(cat("warning: run ", run.name(), ": ", summary.problem)));
      if (has_all(summary.labels, tags)) all.push_back(std::move(summary));
    } catch (const std::exception& error) {  // an unreadable run does not stop the others
      say(printable(cat("warning: run ", run.name(), " is left out: ", error.what())));
    }
  std::string batches;
  if (!json) batches = batch_lines(root, tags);
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const RunSummary& summary : all) list.push_back(summary_json(summary));
    print(json_text(list));
  } else if (all.empty() && batches.empty()) {
    say(tags.empty() ? "there are no runs in " + root
                     : cat("no run or batch in ", root, " has the tag ", join(tags, ", ")));
  } else {
    const std::string table = all.empty() ? "" : runs_table(all, std::max(table_width(), 60));
    print(cat(table, batches.empty() ? "" : cat(table.empty() ? "" : "\n", batches)));
  }
  return 0;
}

// The folder of a run or batch, and the record with its first labels. The record is null for a
// batch. The run may be in any state.
std::pair<std::filesystem::path, nlohmann::json> labelled(const Parsed& parsed,
                                                          const std::string& root) {
  std::error_code ignored;
  const std::string& word = parsed.positionals[0];
  for (const std::filesystem::path& path :
       {std::filesystem::path(root) / word, std::filesystem::path(word)})
    if (std::filesystem::exists(BatchFolder{path}.record(), ignored)) return {path, nullptr};
  const RunDir run = RunDir::open(word, root);
  return {run.path(), run.record()};
}

// Executes --tag, --untag and --note.
int change_labels(const Parsed& parsed, const std::string& root) {
  const auto [folder, record] = labelled(parsed, root);
  RunLabels labels = read_labels(folder, record);
  for (const std::string& tag : parsed.all("--tag")) labels.tags.push_back(tag);
  for (const std::string& tag : parsed.all("--untag")) {
    if (!labels.has(tag))
      throw Error(cat(parsed.positionals[0], " has no tag ", printable(tag)),
                  labels.tags.empty() ? "it has none" : cat("it has: ", join(labels.tags, ", ")));
    std::erase(labels.tags, tag);
  }
  if (parsed.has("--note")) labels.note = parsed.value("--note");
  write_labels(folder, labels);
  labels = read_labels(folder, nullptr);
  say(printable(cat(folder.filename().string(), ": tags ",
                    labels.tags.empty() ? "none" : join(labels.tags, ", "),
                    labels.note.empty() ? "" : cat("; note: ", labels.note))));
  return 0;
}

// Whether the word names a Lockstep run in the folder of runs.
bool names_a_run(const std::string& word, const std::string& root) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(root) / word / "run.json", ignored);
}

int runs_main(const Parsed& parsed) {
  const std::string root = run_root(parsed);
  if (parsed.positionals.empty()) {
    for (const char* flag : {"--note", "--untag"})
      if (parsed.has(flag))
        throw Error(cat(flag, " is about one run, but none is named"),
                    "lockstep runs RUN --note TEXT; lockstep runs lists them");
    for (const char* flag : {"--config", "--follow"})
      if (parsed.has(flag))
        throw Error(cat(flag, " is about one run, but none is named"),
                    cat("lockstep runs RUN ", flag, "; lockstep runs lists them"));
    return show_all(root, parsed.all("--tag"), parsed.has("--json"));
  }
  if (!names_a_run(parsed.positionals[0], root) && show_tracked_runs(parsed)) return 0;
  if (parsed.has("--tag") || parsed.has("--untag") || parsed.has("--note"))
    return change_labels(parsed, root);
  const RunDir run = RunDir::open(parsed.positionals[0], root);
  if (parsed.has("--follow")) {
    if (parsed.has("--json") || parsed.has("--config"))
      throw Error("--follow shows the log of a run, and takes no other form",
                  "leave --json and --config out");
    return follow_run(run);
  }
  if (parsed.has("--json")) {
    print(json_text(run_json(run)));
    return 0;
  }
  constexpr int widest = 100;
  print(run_page(run, {.config = parsed.has("--config"), .width = std::min(text_width(), widest)}));
  return 0;
}

}  // namespace

Command runs_command() {
  return {.name = "runs",
          .operands = "[RUN|STORE|STORE#RUN] [run.root=DIR]",
          .summary = "list runs with state, step, loss, devices, age; or show one",
          .details = std::string(run_operand_help) +
                     "\nSTORE is one of an experiment tracker, whose runs are listed: MLflow's "
                     "folder (mlruns) or database (mlflow.db), or a database of trackio's.",
          .flags = {{"--config", "", "of one run: its configuration too"},
                    {"--follow", "",
                     "of one run: the messages of training (logs/train.log) as they come, until "
                     "the run ends; Ctrl-C ends only this output"},
                    {"--tag", "TAG", "list the runs and batches that have it; of one: add it"},
                    {"--untag", "TAG", "of one run or batch: remove it"},
                    {"--note", "TEXT", "of one run or batch: what it is for"},
                    {"--json", "", "as JSON"}},
          .max_positionals = 1,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .complete = "run",
          .run = runs_main,
          .tried_flags = {tried_root()}};
}

}  // namespace lockstep::cli
