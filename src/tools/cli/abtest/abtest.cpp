// Implements `lockstep abtest`. It runs two commands in turn and shows which is faster.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/config/options.h"
#include "runtime/launch/launch.h"
#include "tools/cli/abtest/abtest_record.h"
#include "tools/cli/abtest/abtest_runner.h"
#include "tools/cli/abtest/abtest_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/machine_facts.h"
#include "tools/cli/train/training_leases.h"

namespace lockstep::cli {
namespace {

constexpr int exit_slower = 1, exit_open = 2;

// Prints one line that is rewritten on a terminal. Elsewhere, prints a line every two seconds at
// most.
class PairLines {
 public:
  void show(const std::string& line) {
    if (stderr_is_terminal()) {
      draw_on_terminal("\r\x1b[K", cut_cells(line, terminal_width() - 1));
      open_ = true;
      return;
    }
    constexpr double every_s = 2;
    const double now_s = system_clock().now_s();
    if (shown_s_ && now_s - *shown_s_ < every_s) return;
    shown_s_ = now_s;
    say(line);
  }
  ~PairLines() {
    if (open_) draw_on_terminal("\n", "");
  }

 private:
  std::optional<double> shown_s_;
  bool open_ = false;
};

std::string plan_text(const AbtestSetup& setup) {
  const AbtestSpec& trial = setup.trial;
  const StoppingRule& rule = trial.rule;
  std::string limits;
  if (trial.repeats) limits += cat(*trial.repeats, " pairs");
  if (trial.budget_s)
    limits += cat(limits.empty() ? "" : ", ", format_duration({.seconds = *trial.budget_s}));
  return cat("A and B in turn until ", rule.scale == Scale::ratio ? "B / A" : "B - A",
             " is known to ± ", margin_text(rule.scale, narrow_share * rule.margin),
             ", where a difference of ", margin_text(rule.scale, rule.margin),
             " is found more than 95 times of 100; at most ", limits);
}

// CPU time of this process and of all child processes that it has waited for.
double own_cpu_s() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return sum;
}

struct Busy {
  double begin_s = system_clock().now_s();
  std::optional<double> all_s = busy_s();
  double own_s = own_cpu_s();
};

// The number of cores that other programs used in this time.
void add_others(const Busy& before, OthersLoad& load) {
  const Busy after;
  const double took_s = after.begin_s - before.begin_s;
  constexpr double least_s = 1;  // the kernel counts in hundredths of a second
  if (!before.all_s || !after.all_s || took_s < least_s) return;
  const double others_s = (*after.all_s - *before.all_s) - (after.own_s - before.own_s);
  load.others_cores = std::max(0.0, others_s / took_s);
}

int exit_for(const AbtestSetup& setup, const AbtestTrial& trial, const AbtestResult& result) {
  if (trial.end == AbtestEnd::interrupted) return exit_interrupted;
  if (!setup.fail_if_slower) return exit_finished;
  if (!result.is_slower) return exit_open;
  return *result.is_slower ? exit_slower : exit_finished;
}

AbtestTrial measure_pairs(const AbtestSetup& setup, AbtestRecord& record) {
  const NotedInterrupts interrupts;
  AbtestRunner runner(setup, record, interrupts);
  PairLines lines;
  return run_trial(
      setup.trial, [&](const RunKey& key) { return runner.run(key); },
      [&](const AbtestTrial& trial, const Contrast& contrast) {
        lines.show(pair_line(setup, trial, contrast));
        record.add(setup, trial);
      },
      system_clock(), [&] { runner.give_up(); });
}

int abtest_main(const Parsed& parsed) {
  const AbtestSetup setup = abtest_setup(parsed);
  OthersLoad load{.load_before = load_average(), .cores = host_info().cores};
  AbtestRecord record(setup, load);
  const std::vector<UniqueFd> leases = lease_for_training(setup.gpus);
  // processes that the commands leave behind become children of this process
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  say(plan_text(setup));
  const Busy before;
  AbtestTrial trial;
  try {
    trial = measure_pairs(setup, record);
  } catch (const Error& error) {
    record.fail(error.what());
    throw;
  }
  add_others(before, load);
  const AbtestResult result = abtest_result(setup, trial, load);
  const std::string problem = record.finish(setup, trial, result, load);
  print(parsed.has("--json") ? json_text(record.json()) : abtest_text(setup, trial, result));
  say(problem.empty() ? cat("kept in ", record.folder().string())
                      : cat("warning: this is not kept: ", problem));
  return exit_for(setup, trial, result);
}

}  // namespace

Command abtest_command() {
  return {
      .name = "abtest",
      .operands = "[flags] 'COMMAND A' 'COMMAND B'",
      .summary = "run two commands in turn, and say which is faster and how sure that is",
      .details =
          "lockstep abtest 'python3 old.py' 'python3 new.py'\n"
          "Each command is one word of your shell's, quoted; its own words are split as a shell "
          "would, but no shell runs it. Wall time is compared, from the start of its process to "
          "its end, or with --metric a number that it prints. The trial ends when the interval of "
          "B / A is narrow, never because a difference has become visible, or after --repeats or "
          "--budget (10m if neither is given). What the commands print goes to files beside the "
          "record.",
      .flags =
          {{"--metric", "REGEX",
            "compare the number that this regular expression (PCRE2) finds in the output of the "
            "commands, not wall time; its first group or the whole match counts, and the last "
            "match",
            ""},
           {"--higher-is-better", "", "a higher metric is better"},
           {"--difference", "",
            "compare B - A, not B / A: for a metric that may be 0 or less; --margin is then in the "
            "unit of the metric",
            ""},
           {"--margin", "SHARE", "differences below it do not matter (default 2%)", ""},
           {"--repeats", "N", "pairs at most", ""},
           {"--budget", "TIME", "time limit, such as 5m: no pair begins that would end later", ""},
           {"--warmup", "N", "first runs of each command that do not count (default 1)", ""},
           {"--timeout", "TIME", "a run that takes longer ends the trial", ""},
           {"--order", "ORDER",
            "balanced: in every two pairs, one begins with A and one with B (default); ab: A first",
            "word balanced|ab"},
           {"--seed", "N", "draws which order comes first (default 0)", ""},
           {"--devices", "LIST",
            "GPUs that the commands may use, and that batches do not use meanwhile (default all; "
            "cpu: none)",
            "devices"},
           {"--parallel", "", "a pair on each GPU at once", ""},
           {"--fail-if-slower", "SHARE",
            "exit code 1 if B is slower (for a metric: worse) by more than that, 2 if that is open",
            ""},
           {"--name", "NAME", "name of the record's folder in runs/ (default abtest-DATE-TIME)",
            ""},
           {"--out", "DIR", "the record's folder", "file"},
           {"--json", "", "print the record"}},
      .min_positionals = 2,
      .max_positionals = 2,
      .takes_assignments = true,
      .only_options = {"run.root"},
      .run = abtest_main,
      .tried_flags = {{"--runs", "it is called --repeats"},
                      {"--min-runs", "it is called --repeats"},
                      {"-n", "it is called --repeats"}},
      .stray_hint =
          "each command is one word, in quotes: lockstep abtest 'python3 -c \"pass\"' "
          "'python3 -c \"1\"'",
      .operands_have_equals = true};
}

}  // namespace lockstep::cli
