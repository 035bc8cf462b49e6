// lockstep plan: the plan for any devices, without them.
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/resolve.h"
#include "plan/micro_batch.h"

#include <algorithm>
#include <cstdlib>

namespace lockstep::cli {
namespace {

int plan_main(const Parsed& parsed) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::vector<Device> devices =
      imagine_devices(parsed.value("--devices", "all"), probe(), host_info(), visible);
  RunSetup setup = resolve_options(parsed.positionals[0], parsed.value("--plugin"),
                                   parsed.all("--config"), parsed.assignments, devices);
  prepare_and_plan(setup, Purpose::plan, devices, {});
  check_new_batch(setup.plan, *setup.train);
  print(parsed.has("--json") ? json_text(to_json(setup.plan))
                             : to_text(setup.plan, true, std::min(text_width(), 100)));
  return 0;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .operands = "RECIPE [key=value …]",
      .summary = "print the plan for any devices, without them",
      .details =
          "--devices 8, 8xH100, 2xT4,1xH100 or cpu:4 plans for devices that need not be there.",
      .flags = {{"--config", "FILE", "TOML file of options; later files overlay earlier ones",
                 "file"},
                {"--devices", "LIST", "how many and which (default: this machine's)", "devices"},
                {"--plugin", "LIB", "shared library with the recipe", "file"},
                {"--json", "", "the plan as JSON"}},
      .min_positionals = 1,
      .max_positionals = 1,
      .takes_assignments = true,
      .complete = "recipe",
      .run = plan_main};
}

}  // namespace lockstep::cli
