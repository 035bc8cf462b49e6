// lockstep plan: the plan for any devices, without them, and how long the run takes.
#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/foresee.h"
#include "cli/measured_times.h"
#include "cli/resolve.h"
#include "cli/then.h"
#include "cli/time_table.h"
#include "cli/trial.h"
#include "plan/micro_batch.h"
#include "plan/precision.h"

#include <algorithm>
#include <cstdlib>

namespace lockstep::cli {
namespace {

std::vector<Device> imagined_for(const std::string& spec) {
  return imagine_devices(spec, probe(), host_info(), std::getenv("CUDA_VISIBLE_DEVICES"));
}

RunSetup planned_setup(const Parsed& parsed, const std::vector<Device>& devices) {
  RunSetup setup =
      resolve_options(parsed.positionals[0], parsed.value("--plugin"), parsed.all("--config"),
                      parsed.assignments, devices, {}, flags_here(plan_command(), parsed));
  check_reserve(*setup.train);
  prepare_and_plan(setup, Purpose::plan, devices, {});
  check_new_batch(setup.plan, *setup.train);
  return setup;
}

std::vector<Device> devices_of(const Parsed& parsed) {
  if (!parsed.has("--measure")) return imagined_for(parsed.value("--devices", "all"));
  std::vector<Device> devices = devices_for(parsed.value("--devices"));
  check_can_run(devices);
  return devices;
}

int print_plan(const Parsed& parsed) {
  RunSetup setup = planned_setup(parsed, devices_of(parsed));
  std::optional<Forecast> forecast;
  if (parsed.has("--measure")) {
    say("trying it for ten seconds …");
    const MeasuredTimes times = measure_times(setup);
    remember_times(setup, times);
    forecast = make_forecast(times, setup.plan, *setup.train);
  } else {
    forecast = forecast_of(setup);
  }
  note_forecast(setup, forecast);
  if (!forecast)
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

TimeRow row_for(const Parsed& parsed, const std::string& spec) {
  TimeRow row{.device = spec};
  try {
    const RunSetup setup = planned_setup(parsed, imagined_for(spec));
    row.device = setup.plan.devices[0].name;
    row.precision = precision_word(setup.plan.precision.type);
    row.forecast = forecast_of(setup);
    row.quota =
        row.forecast ? quota_text(*row.forecast, *setup.train, 0, setup.plan.total_steps) : "";
    if (!row.forecast) row.why_not = setup.plan.compute.mfu_unknown;
  } catch (const Error& error) {
    row.why_not = error.what();
  }
  return row;
}

int print_table(const Parsed& parsed) {
  std::vector<TimeRow> rows;
  for (const char* spec : usual_gpus) rows.push_back(row_for(parsed, spec));
  print(parsed.has("--json") ? json_text(to_json(rows)) : time_table_text(rows));
  return 0;
}

int plan_main(const Parsed& parsed) {
  if (!parsed.has("--table")) return print_plan(parsed);
  for (const char* other : {"--devices", "--measure"})
    if (parsed.has(other))
      throw Error(cat("--table is of one T4, P100, A100 and H100 each, so ", other,
                      " has no meaning there"),
                  cat("leave out ", other, ", or --table"));
  return print_table(parsed);
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .operands = "RECIPE [key=value …]",
      .summary = "print the plan for any devices, and how long it takes",
      .details =
          "--devices 8, 8xH100, 2xT4,1xH100 or cpu:4 plans for devices that need not be there.\n"
          "\n"
          "How long the run takes is known from an earlier run of the same model on the same kind "
          "of devices, else from a trial (--measure), else from the devices' peaks, which may be "
          "off by 3 times. With stop.after or stop.budget it says whether that is enough.",
      .flags = {{"--config", "FILE", "TOML file of options; later files overlay earlier ones",
                 "file"},
                {"--devices", "LIST", "how many and which (default: this machine's)", "devices"},
                {"--measure", "", "train for ten seconds on this machine's devices to see"},
                {"--table", "", "how long it takes on one T4, P100, A100 and H100"},
                {"--plugin", "LIB", "shared library with the recipe", "file"},
                {"--json", "", "the plan, or the table, as JSON"}},
      .min_positionals = 1,
      .max_positionals = 1,
      .takes_assignments = true,
      .complete = "recipe",
      .run = plan_main};
}

}  // namespace lockstep::cli
