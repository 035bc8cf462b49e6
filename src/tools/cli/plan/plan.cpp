// Implements `lockstep plan`. It shows the plan and the duration of a run for any devices, without
// using them.
#include "core/base/error.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "planning/precision.h"
#include "runtime/launch/launch.h"
#include "tools/cli/bench/measured_times.h"
#include "tools/cli/bench/trial.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/foresee.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/plan/time_table.h"
#include "tools/cli/train/then.h"
#include "tools/cli/train/train.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace lockstep::cli {
namespace {

std::vector<Device> imagined_for(const std::string& spec) {
  return imagine_devices(spec, probe(), host_info(), std::getenv("CUDA_VISIBLE_DEVICES"));
}

// The run that `train` would begin or resume with the same command line.
struct PlannedRun {
  RunSetup setup;
  Then then;
  ItemLoad items{};
  Begun begun{};
  bool is_over = false;  // the run has finished, so no training is left
};

RunSetup resolved_setup(const Parsed& parsed, const Then& then,
                        const std::vector<Device>& devices) {
  return resolve_options(parsed.positionals[0], parsed.value("--plugin"), parsed.all("--config"),
                         parsed.assignments, devices, then.bare_keys(),
                         flags_here(plan_command(), parsed));
}

// A plan from a recipe and devices alone could be mistaken for one of the user's own data and
// model.
std::string built_in_note(const RunSetup& setup) {
  const std::optional<BuiltIn> built_in = setup.options->built_in();
  if (!built_in) return "";
  return cat("the numbers of this plan are for ", built_in->what,
             " (built in); for those of your own add ", built_in->options);
}

PlannedRun plan_new_run(RunSetup setup, const Then& then, const std::vector<Device>& devices,
                        const Say& tell = say) {
  PlannedRun planned{.setup = std::move(setup), .then = then};
  check_reserve(*planned.setup.train);
  planned.items = check_predictions(planned.setup, then, {}, /*trains=*/true);
  prepare_and_plan(planned.setup, Purpose::plan, devices, {}, tell);
  check_evaluation(planned.setup, then);
  check_new_batch(planned.setup.plan, *planned.setup.train,
                  names_data(planned.setup.options->table));
  if (std::string note = built_in_note(planned.setup); !note.empty())
    planned.setup.plan.notes.insert(planned.setup.plan.notes.begin(), std::move(note));
  return planned;
}

PlannedRun plan_old_run(const Parsed& parsed, const RunDir& run, const Then& then,
                        const std::vector<Device>& devices) {
  PlannedRun planned{.setup = resolve_resume(run, parsed.all("--config"), parsed.assignments,
                                             parsed.value("--plugin"), then.bare_keys()),
                     .then = then};
  check_frozen_batch(*planned.setup.train, planned.setup.prepared.facts, devices);
  planned.is_over = run.state() == RunState::finished && !goes_further(planned.setup, run);
  const Resumption resumption =
      plan_resumption(planned.setup, run, then, devices, {.trains = !planned.is_over});
  planned.items = resumption.items;
  planned.begun = resumption.begun();
  if (planned.is_over) say_unused_changes(planned.setup, run);
  say(planned.is_over
          ? cat("run ", run.name(), " has finished: nothing of it is left to train")
          : cat("the plan of run ", run.name(), ", which goes on from step ", planned.begun.step));
  return planned;
}

PlannedRun planned_run(const Parsed& parsed, const std::vector<Device>& devices) {
  const Then then = then_of(parsed);
  RunSetup setup = resolved_setup(parsed, then, devices);
  if (const std::optional<RunDir> run = run_to_resume(parsed, setup))
    return plan_old_run(parsed, *run, then, devices);
  return plan_new_run(std::move(setup), then, devices);
}

std::vector<Device> devices_of(const Parsed& parsed) {
  if (!parsed.has("--measure")) return imagined_for(parsed.value("--devices", "all"));
  std::vector<Device> devices = devices_for(parsed.value("--devices"));
  check_can_run(devices);
  return devices;
}

std::optional<MeasuredTimes> try_out(const RunSetup& setup) {
  say("trying it for ten seconds …");
  MeasuredTimes times = measure_times(setup);
  remember_times(setup, times);
  return times;
}

int print_plan(const Parsed& parsed) {
  PlannedRun planned = planned_run(parsed, devices_of(parsed));
  RunSetup& setup = planned.setup;
  const std::optional<MeasuredTimes> trial =
      parsed.has("--measure") ? try_out(setup) : std::nullopt;
  std::optional<Forecast> forecast =
      foresee(setup, planned.then, planned.items,
              planned.is_over ? Begun{.step = setup.plan.total_steps} : planned.begun, trial);
  if (planned.is_over)
    forecast.reset();
  else if (!forecast)
    setup.plan.notes.push_back(
        "how long it takes is not known: no run like it is remembered here; --measure tries it for "
        "ten seconds");
  if (parsed.has("--json")) {
    nlohmann::json json = to_json(setup.plan);
    json["forecast"] = forecast ? to_json(*forecast) : nlohmann::json();
    print(json_text(json));
  } else {
    print(to_text(setup.plan, true, std::min(text_width(), 100)));
  }
  return 0;
}

constexpr const char* usual_gpus[] = {"T4", "P100", "A100", "H100"};

TimeRow row_for(const Parsed& parsed, const std::string& spec, const Say& tell) {
  TimeRow row{.device = spec};
  try {
    const std::vector<Device> devices = imagined_for(spec);
    const Then then = then_of(parsed);
    PlannedRun planned = plan_new_run(resolved_setup(parsed, then, devices), then, devices, tell);
    row.forecast = foresee(planned.setup, then, planned.items, {});
    const RunSetup& setup = planned.setup;
    if (const std::string note = built_in_note(setup); !note.empty()) tell(note);
    row.device = setup.plan.devices[0].name;
    row.precision = precision_word(setup.plan.precision.type);
    row.quota =
        row.forecast ? quota_text(*row.forecast, *setup.train, {}, setup.plan.total_steps) : "";
    if (!row.forecast) row.why_not = setup.plan.compute.mfu_unknown;
  } catch (const Error& error) {
    row.why_not = error.what();
    row.is_error = true;
  }
  return row;
}

int print_table(const Parsed& parsed) {
  std::vector<TimeRow> rows;
  // Notes that are already shown. The data is the same for each row.
  std::set<std::string> said;
  const auto say_once = [&](const std::string& line) {
    if (said.insert(line).second) say(line);
  };
  for (const char* spec : usual_gpus) rows.push_back(row_for(parsed, spec, say_once));
  print(parsed.has("--json") ? json_text(to_json(rows)) : time_table_text(rows));
  const bool has_plan =
      std::any_of(rows.begin(), rows.end(), [](const TimeRow& row) { return !row.is_error; });
  return has_plan ? exit_finished : exit_usage;
}

int plan_main(const Parsed& parsed) {
  if (!parsed.has("--table")) return print_plan(parsed);
  for (const char* other : {"--devices", "--measure", "--resume"})
    if (parsed.has(other))
      throw Error(cat("--table is of one T4, P100, A100 and H100 each, so ", other,
                      " has no meaning there"),
                  cat("leave out ", other, ", or --table"));
  return print_table(parsed);
}

}  // namespace

Command plan_command() {
  Command command{
      .name = "plan",
      .operands = "RECIPE [key=value …]",
      .summary = "print the plan for any devices, and how long it takes",
      .details =
          "--devices 8, 8xH100, 2xT4,1xH100 or cpu:4 plans for devices that need not be there.\n\n"
          "How long the run takes is known from an earlier run of the same model on the same kind "
          "of devices, else from a trial (--measure), else from the devices' peaks, which may be "
          "off by 3 times. With stop.after or stop.budget it says whether that is enough.\n\n"
          "It takes the words of a `train` command: with --resume auto it plans the rest of the "
          "run, and with --then predict it also gives the time of the predictions.",
      .flags = {{"--config", "FILE",
                 "TOML or .json file of options; later files overlay earlier ones", "file"},
                {"--devices", "LIST", "how many and which (default: this machine's)", "devices"},
                {"--measure", "",
                 "train for ten seconds on this machine's devices to measure the "
                 "time"},
                {"--table", "", "how long it takes on one T4, P100, A100 and H100"},
                {"--plugin", "LIB", "shared library with the recipe", "file"},
                {"--json", "", "the plan, or the table, as JSON"}},
      .min_positionals = 1,
      .max_positionals = 1,
      .takes_assignments = true,
      .complete = "recipe",
      .run = plan_main};
  for (const std::vector<Flag>& more : {then_flags(), resume_auto_flags()})
    command.flags.insert(command.flags.end() - 2, more.begin(), more.end());
  return command;
}

}  // namespace lockstep::cli
