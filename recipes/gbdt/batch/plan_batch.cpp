// lockstep batch gbdt: plans a job for each symbol and window.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/symbols.h"
#include "recipes/gbdt/lightgbm/leaves.h"
#include "recipes/gbdt/lightgbm/opencl.h"
#include "recipes/gbdt/train/train_window.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::gbdt {
namespace {

std::string counted(std::size_t count, const char* one, const char* many) {
  return cat(count, " ", count == 1 ? one : many);
}

// "in 36 of 36 windows num_leaves=255 cannot be reached: …", or "may not" instead of "cannot".
// Returns "" if this is true of no window.
std::string leaves_note(const Parameters& asked, const std::vector<PlannedWindow>& windows,
                        bool cannot) {
  std::size_t trained = 0, found = 0;
  LeavesInReach fewest, most;
  for (const PlannedWindow& window : windows) {
    if (!window.skip.empty()) continue;
    ++trained;
    const auto leaves = leaves_in_reach(asked, window.train_rows);
    if (!leaves || leaves->cannot() != cannot) continue;
    if (found++ == 0) fewest = most = *leaves;
    fewest.full = std::min(fewest.full, leaves->full);
    fewest.most = std::min(fewest.most, leaves->most);
    most.full = std::max(most.full, leaves->full);
    most.most = std::max(most.most, leaves->most);
  }
  if (found == 0) return "";
  return cat("in ", found, " of ", counted(trained, "window", "windows"),
             trained < windows.size() ? " that are not skipped" : "", " num_leaves=", most.asked,
             cannot ? " cannot" : " may not",
             " be reached: ", leaves_text("their rows", fewest, most));
}

// "2 of 12 windows are shorter than window_days=1000, by 816 days: …", or "" if none is shorter.
std::string shorter_note(std::int64_t window_days, const std::vector<PlannedWindow>& windows) {
  std::size_t count = 0;
  std::int64_t least = 0, most = 0;
  for (const PlannedWindow& window : windows) {
    const std::int64_t lacks = window_days - (window.window.end - window.window.start);
    if (window.window.is_everything || lacks <= 0) continue;
    least = count == 0 ? lacks : std::min(least, lacks);
    most = std::max(most, lacks);
    ++count;
  }
  if (count == 0) return "";
  return cat(count, " of ", counted(windows.size(), "window", "windows"),
             count == 1 ? " is" : " are", " shorter than window_days=", window_days, ", by ",
             least == most ? "" : cat(least, " to "), most, most == 1 ? " day" : " days",
             ": the last of ", count == 1 ? "its symbol" : "each symbol",
             " ends with the prices or with end");
}

// "1 of 6 windows is tested on days from end=2024-12-01 on, until 2024-12-10: …", or "" if none is.
std::string after_end_note(const GbdtOptions& options, const std::vector<PlannedWindow>& windows) {
  const std::optional<Day> end = options.end_day();
  if (!end) return "";
  std::size_t count = 0;
  Day last = 0;
  for (const PlannedWindow& window : windows) {
    if (!window.skip.empty() || !window.last_test || *window.last_test < *end) continue;
    last = std::max(last, *window.last_test);
    ++count;
  }
  if (count == 0) return "";
  return cat(count, " of ", counted(windows.size(), "window", "windows"),
             count == 1 ? " is" : " are", " tested on days from end=", to_text(*end), " on, until ",
             to_text(last), ": no model learns from them");
}

// Options that determine a job's rows or where it runs, but not the time that a row takes.
const std::vector<std::string> of_rows = {
    "symbol",         "symbols",     "start",          "end",
    "window_days",    "stride_days", "data.path",      "data.made_symbols",
    "run.root",       "seed",        "gbdt.device_id", "features",
    "data.made_seed", "preset"};

nlohmann::json without_rows(nlohmann::json options) {
  for (const std::string& key : of_rows) options.erase(key);
  return options;
}

// Returns a function that tells whether a folder belongs to a similar job. It has the same options,
// and its number of training rows differs by a factor of at most 1.25.
std::function<bool(const std::filesystem::path&)> alike(const GbdtOptions& options,
                                                        const std::vector<PlannedWindow>& windows) {
  constexpr double nearly = 1.25;
  double rows = 0, trained = 0;
  for (const PlannedWindow& window : windows) {
    if (!window.skip.empty()) continue;
    rows += static_cast<double>(window.train_rows);
    ++trained;
  }
  const double mean = trained > 0 ? rows / trained : 0;
  return [own = without_rows(options.table.to_json()), mean](const std::filesystem::path& folder) {
    const nlohmann::json data = parse_json(read_file(folder / "metadata.json"));
    if (!data.is_object() || !data.contains("options") || !data["options"].is_object() ||
        !data.contains("sample_counts"))
      return false;
    const auto then = static_cast<double>(integer_or(data["sample_counts"], "train", 0));
    return without_rows(data["options"]) == own && then <= mean * nearly && then * nearly >= mean;
  };
}

// "MADE01_2022-01-01_to_2022-06-30, because …". At least one window must be skipped.
std::string first_skip(const std::vector<PlannedWindow>& windows) {
  const auto first = std::find_if(windows.begin(), windows.end(),
                                  [](const PlannedWindow& one) { return !one.skip.empty(); });
  return cat(window_label(first->symbol, first->window), ", because ", first->skip);
}

// The reason why a window is skipped, without details that differ between windows. These are the
// symbol, numbers, days, advice and the features in parentheses.
std::string kind_of_skip(const PlannedWindow& window) {
  std::string kind = window.skip;
  if (const std::size_t at = kind.find(" " + window.symbol + " "); at != kind.npos)
    kind.erase(at, window.symbol.size() + 1);
  kind.resize(std::min(kind.find_first_of("(;"), kind.size()));
  std::erase_if(kind, [](char letter) { return letter >= '0' && letter <= '9'; });
  return kind;
}

// "2 windows will be skipped, the first, MADE01_2022-01-01_to_2022-06-30, because …", once for each
// kind of reason.
std::vector<std::string> skip_notes(const std::vector<PlannedWindow>& windows) {
  std::vector<std::pair<std::string, std::vector<PlannedWindow>>> kinds;
  for (const PlannedWindow& window : windows) {
    if (window.skip.empty()) continue;
    const std::string kind = kind_of_skip(window);
    auto known = std::find_if(kinds.begin(), kinds.end(),
                              [&](const auto& one) { return one.first == kind; });
    if (known == kinds.end()) known = kinds.insert(known, {kind, {}});
    known->second.push_back(window);
  }
  std::vector<std::string> notes;
  for (const auto& [kind, skipped] : kinds)
    notes.push_back(cat(counted(skipped.size(), "window", "windows"),
                        " will be skipped, the first, ", first_skip(skipped)));
  return notes;
}

// "symbols names INFY more than once: …", or "" if each is named once.
std::string repeated_note(const GbdtOptions& options) {
  constexpr std::size_t most_named = 5;
  std::vector<std::string> repeated = repeated_symbols(options);
  if (repeated.empty()) return "";
  const std::size_t count = repeated.size();
  repeated.resize(std::min(count, most_named));
  return cat("symbols names ", join(repeated, ", "), count > most_named ? ", …" : "",
             " more than once: ", count == 1 ? "it is" : "each is", " trained once");
}

// The jobs are listed before they run, so that users notice a missing one.
std::vector<std::string> notes_of(const GbdtOptions& options, const Parameters& asked,
                                  const std::vector<PlannedWindow>& windows) {
  std::vector<std::string> symbols;
  for (const PlannedWindow& window : windows)
    if (symbols.empty() || symbols.back() != window.symbol) symbols.push_back(window.symbol);
  std::vector<std::string> notes;
  if (options.made()) notes.push_back(made_note(options.data.made_rows > 0));
  notes.push_back(cat(counted(symbols.size(), "symbol", "symbols"), ", ",
                      counted(windows.size(), "window", "windows")));
  if (std::string repeated = repeated_note(options); !repeated.empty())
    notes.push_back(std::move(repeated));
  if (std::string shorter = shorter_note(options.window_days, windows); !shorter.empty())
    notes.push_back(std::move(shorter));
  if (std::string after = after_end_note(options, windows); !after.empty())
    notes.push_back(std::move(after));
  for (const bool cannot : {true, false})
    if (std::string leaves = leaves_note(asked, windows, cannot); !leaves.empty())
      notes.push_back(std::move(leaves));
  if (!windows.empty())
    if (std::string idle = options.idle_note(windows[0].window.is_everything); !idle.empty())
      notes.push_back(std::move(idle));
  for (std::string& skipped : skip_notes(windows)) notes.push_back(std::move(skipped));
  return notes;
}

// Lists the features by name, because a file that lists them may change.
std::string features_option(const GbdtOptions& options) {
  GbdtOptions listed;
  listed.features = options.columns().own;
  return cat("features=", job_literal(listed.table.get("features")));
}

// Throws Error for a GPU number above 0, because a job sees only one GPU.
void check_device_id(const GbdtOptions& options) {
  const std::int64_t id = options.gbdt.device_id;
  if (options.gbdt.device == TrainDevice::cpu || id <= 0) return;
  throw Error(cat("gbdt.device_id=", id,
                  ": each job of a batch sees the one GPU that it is placed on, as number 0"),
              cat("leave it out: a batch uses all GPUs by itself, and --devices ", id,
                  " chooses the one with that number"));
}

DirectBatch plan_batch(const GbdtOptions& options) {
  check_device_id(options);
  const LightGbm library(find_lightgbm(options.gbdt.library, options.table.get("gbdt.device")));
  // Invalid parameters are reported before any work.
  const Parameters asked = resolve_parameters(library, options.parameters());
  // symbols without a job, each with the reason
  std::vector<std::string> left_out;
  const std::vector<PlannedWindow> windows = [&] {
    // frees the cells after planning, because the batch may run for days
    const KeepCells until_planned;
    return plan_windows(options, &left_out);
  }();
  DirectBatch batch{
      .keys = {"symbol", "start", "end"},
      .rows = {},
      .job_name = "{symbol}_{start}_to_{end}",
      .only_batch = {"symbols", "window_days", "stride_days", "data.made_symbols", "features"},
      .recorded = {"window_days", "stride_days"},
      .outputs = {"model.txt", "predictions.csv", "metadata.json"},
      .cpus = options.gbdt.threads,
      .cpus_key = "gbdt.threads",
      .notes = notes_of(options, asked, windows),
      .skipped = static_cast<std::size_t>(
          std::count_if(windows.begin(), windows.end(),
                        [](const PlannedWindow& one) { return !one.skip.empty(); })),
      .on_cpu = "gbdt.device=cpu",
      .on_gpu = "gbdt.device=gpu",
      .is_alike = alike(options, windows)};
  if (batch.skipped > 0) batch.why_skipped = first_skip(windows);
  for (const std::string& line : left_out) batch.notes.push_back(cat("left out: ", line));
  batch.left_out = std::move(left_out);
  if (!options.features.empty()) batch.more_options.push_back(features_option(options));
  if (options.gbdt.device != TrainDevice::cpu) {
    batch.gpus = "0.25";
    batch.more_options.emplace_back("gbdt.device_id={gpu}");
    if (options.gbdt.device == TrainDevice::gpu && opencl_platforms(library).empty())
      batch.notes.emplace_back(
          "there is no OpenCL platform here: the jobs have to run on another machine");
  }
  for (const PlannedWindow& window : windows)
    batch.rows.push_back({window.symbol, start_text(window.window), end_text(window.window)});
  if (std::all_of(windows.begin(), windows.end(),
                  [](const PlannedWindow& one) { return one.window.is_everything; })) {
    batch.keys = {"symbol"};
    batch.recorded.clear();
    batch.job_name = "{symbol}";
    for (auto& row : batch.rows) row.resize(1);
  }
  return batch;
}

[[maybe_unused]] const bool plan_linked = [] {
  trainer.plan_batch = plan_batch;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
