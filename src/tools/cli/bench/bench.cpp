// Implements `lockstep bench`. It compares the same training on several numbers of devices.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_links.h"
#include "runtime/run/progress/scaling_table.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/bench/bench_setup.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/output.h"
#include "tools/cli/ranks.h"
#include "tools/cli/run_end.h"
#include "tools/cli/train/train.h"

#include <optional>

namespace lockstep::cli {
namespace {

// Makes one run of the present plan. code: set to the exit code if the run failed.
std::optional<BenchRun> measure(const Bench& bench, const NotedInterrupts& interrupts, int& code) {
  const TemporaryDirectory scratch;
  const std::filesystem::path root =
      bench.keep ? std::filesystem::path(bench.setup.train->run.root) : scratch.path();
  RunDir run = RunDir::create(root, "", "bench-" + bench.setup.recipe, [&](RunDir& fresh) {
    fresh.lock();
    write_start(bench.setup, fresh, false);
  });
  std::vector<nlohmann::json> events;
  code = exit_interrupted;
  if (interrupts.came()) return std::nullopt;
  code = report_reading(
      run_ranks({.arguments = {"bench", "--run", std::filesystem::absolute(run.path()).string()},
                 .devices = bench.setup.plan.devices,
                 .log_dir = run.make_logs(),
                 .on_event = [&](const nlohmann::json& event) { events.push_back(event); }}));
  if (code != exit_finished) return std::nullopt;
  if (bench.keep) say(cat("run ", run.path().string()));
  BenchRun result = read_bench_run(events, bench.warm_up);
  if (result.graph_step > bench.warm_up)
    say(cat("warning: the step became a graph in step ", result.graph_step,
            ", which is measured: set --warm-up to at least ", result.graph_step));
  return result;
}

// Runs all numbers of devices in turn, then repeats. Drift, such as heat, then affects all of them.
int run_all(Bench& bench, const std::vector<ScalingBatch>& batches,
            std::vector<std::vector<BenchRun>>& runs) {
  const NotedInterrupts interrupts;
  runs.resize(bench.counts.size());
  for (std::int64_t repeat = 1; repeat <= bench.repeats; ++repeat)
    for (std::size_t i = 0; i < bench.counts.size(); ++i) {
      plan_for(bench, bench.counts[i], batches[i]);
      say(cat(count_text(bench, bench.counts[i]), ", repeat ", repeat, " of ", bench.repeats));
      int code = exit_finished;
      std::optional<BenchRun> run = measure(bench, interrupts, code);
      if (!run) return code;
      runs[i].push_back(std::move(*run));
    }
  return interrupts.came() ? exit_interrupted : exit_finished;
}

// Writes the whole result to FILE as JSON. Prints the same JSON or the table to standard output.
int report(const Bench& bench, const std::vector<ScalingRow>& rows, Output* file, bool as_json) {
  const std::string json = json_text(report_json(bench, rows)) + "\n";
  const bool in_file = file != nullptr && !file->is_standard_output();
  const bool is_kept = !in_file || file->write(json) != Written::failed;
  print(as_json || (file != nullptr && !in_file) ? json : report_text(bench, rows));
  return is_kept ? exit_finished : exit_failed;
}

int bench_main(const Parsed& parsed) {
  // The file is opened before anything runs, so that an error shows early.
  std::optional<Output> file;
  if (parsed.has("--out")) file.emplace(parsed.value("--out"), may_overwrite(parsed));
  Bench bench = bench_setup(parsed);
  const std::vector<ScalingBatch> batches = choose_batches(bench);
  std::vector<std::vector<BenchRun>> runs;
  if (const int code = run_all(bench, batches, runs); code != exit_finished) return code;
  std::vector<ScalingRow> rows;
  for (std::size_t i = 0; i < bench.counts.size(); ++i) {
    plan_for(bench, bench.counts[i], batches[i]);
    rows.push_back(scaling_row(bench.counts[i], bench.setup.plan.batch, runs[i]));
    rows.back().link = link_limit(bench.setup.plan.devices, probe());
  }
  compare(rows);
  return report(bench, rows, file ? &*file : nullptr, parsed.has("--json"));
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .operands = "RECIPE [key=value …]",
      .summary = "train a few steps on several numbers of devices, and compare",
      .details =
          "--devices gives numbers of devices: 1,2,4 takes the first 1, 2 and 4 of the visible "
          "GPUs, and cpu:1,2 takes\n"
          "1 and 2 CPU ranks. Strong scaling, the default, keeps the global batch, as training "
          "does: its\n"
          "efficiency is the gain of another device for the same run. No files are kept without "
          "--keep or --out.",
      .flags = {{"--devices", "LIST", "numbers of devices (default 1, 2, 4, … up to all)",
                 "word 1,2|1,2,4|1,2,4,8|cpu:1,2"},
                {"--scaling", "WORD", "strong: same global batch; weak: same share per device",
                 "word strong|weak"},
                {"--steps", "N", "steps that count (default 30)", ""},
                {"--warm-up", "N", "steps before them (default 10)", ""},
                {"--repeats", "N", "runs of each number of devices (default 3)", ""},
                {"--config", "FILE",
                 "TOML or .json file of options; later files overlay earlier ones", "file"},
                {"--plugin", "LIB", "shared library with the recipe", "file"},
                {"--keep", "", "keep the run directories"},
                {"--out", "FILE", "write the result as JSON; - is standard output", "file"},
                overwrite_flag(),
                {"--json", "", "print the result as JSON"}},
      .min_positionals = 1,
      .max_positionals = 1,
      .takes_assignments = true,
      .complete = "recipe",
      .run = bench_main};
}

}  // namespace lockstep::cli
