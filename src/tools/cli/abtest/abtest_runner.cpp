#include "tools/cli/abtest/abtest_runner.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/cli/abtest/timed_run.h"

extern "C" char** environ;

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

// The last lines that a run printed.
std::string end_of(const fs::path& output) {
  constexpr std::uint64_t most_bytes = 2000;
  constexpr std::size_t most_lines = 20;
  shorten_output(output);
  std::string text = read_file(output);
  if (text.size() > most_bytes) text = text.substr(text.size() - most_bytes);
  std::vector<std::string> lines = split(trim(text), '\n');
  if (lines.size() > most_lines) lines.erase(lines.begin(), lines.end() - most_lines);
  const std::string end = printable(join(lines, "\n"), "\n\t");
  return trim(end).empty() ? "it printed nothing" : "its output ended with:\n" + end;
}

std::string run_name(const AbtestSetup& setup, const RunKey& key) {
  const std::string when = key.pair >= 0 ? cat("pair ", key.pair + 1) : cat("warm-up ", -key.pair);
  return cat(key.side == AbtestSide::a ? "A" : "B", " in ", when, " (",
             setup.command(key.side).text, ")");
}

// Describes how a run failed. Empty if it succeeded.
std::string failure_of(const TimedRun& run, const AbtestSetup& setup) {
  if (run.timed_out) return cat("took longer than ", general(*setup.timeout_s, 4), " s");
  if (run.signal != 0)
    return cat("was killed by signal ", run.signal, " (", strsignal(run.signal), ")");
  return run.code == 0 ? "" : cat("failed: exit code ", run.code);
}

// This process's environment, except that the run sees only its own GPUs.
std::vector<std::string> environment_for(const AbtestSetup& setup, int place) {
  constexpr std::string_view variable = "CUDA_VISIBLE_DEVICES=";
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with(variable)) variables.emplace_back(*entry);
  std::vector<std::string> uuids;
  for (std::size_t i = 0; i < setup.gpus.size(); ++i)
    if (setup.trial.places == 1 || static_cast<int>(i) == place)
      uuids.push_back(setup.gpus[i].uuid);
  variables.push_back(cat(variable, join(uuids, ",")));
  return variables;
}

}  // namespace

std::optional<AbtestRun> AbtestRunner::run(const RunKey& key) const {
  const fs::path output = record_.output_of(key);
  TimedOrder order{.words = setup_.command(key.side).words,
                   .output = output,
                   .timeout_s = setup_.timeout_s,
                   .owns_orphans = setup_.trial.places == 1};
  if (setup_.sets_gpus) order.environment = environment_for(setup_, key.place);
  const auto interrupted = [this] { return given_up_ ? SIGTERM : interrupts_.newest(); };
  if (interrupted() != 0) return std::nullopt;
  const TimedRun run = run_timed(order, interrupted);
  if (run.interrupted) return std::nullopt;
  if (const std::string failure = failure_of(run, setup_); !failure.empty())
    throw Error(
        cat(run_name(setup_, key), " ", failure, "\n\n", end_of(output)),
        "both commands must succeed each time; all that it printed is in " + output.string());
  AbtestRun measured{.value = run.wall_s,
                     .started = run.started,
                     .wall_s = run.wall_s,
                     .user_s = run.user_s,
                     .system_s = run.system_s,
                     .peak_bytes = run.peak_bytes};
  if (setup_.metric) measured.value = metric_of(key, output);
  shorten_output(output);
  return measured;
}

double AbtestRunner::metric_of(const RunKey& key, const fs::path& output) const {
  double value = 0;
  try {
    value = setup_.metric->number_in(read_file(output, list_bytes));
  } catch (const Error& error) {
    throw Error(cat(run_name(setup_, key), ": ", error.what(), "\n\n", end_of(output)),
                error.hint());
  }
  if (setup_.trial.rule.scale == Scale::ratio && !(value > 0))
    throw Error(cat(run_name(setup_, key), ": the metric is ", general(value, 6),
                    ", of which there is no ratio"),
                "compare differences: --difference, with --margin in the metric's own unit");
  return value;
}

}  // namespace lockstep::cli
