#include "tools/cli/train/restart_run.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/words.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/train/train.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

// The devices that still answer. Prints a warning for each of the others. Throws Error if no device
// answers.
std::vector<Device> answering(const std::vector<Device>& devices) {
  std::vector<Device> left = still_answering(devices, probe());
  for (const Device& device : devices)
    if (std::none_of(left.begin(), left.end(), [&](const Device& one) {
          return one.uuid == device.uuid && one.index == device.index;
        }))
      say(cat("warning: ", device_label(device), " (", device.name,
              ") does not answer any more and is left out"));
  if (left.empty()) throw Error("no device answers any more", "check nvidia-smi");
  return left;
}

}  // namespace

bool Restarts::once_more(std::int64_t step) {
  if (step > reached_) count_ = 0;
  reached_ = std::max(reached_, step);
  return ++count_ <= allowed_;
}

std::int64_t newest_good_step(const RunDir& run) {
  const auto checkpoint = newest_good(run.checkpoints(), [](const CheckpointInfo&) {});
  return checkpoint ? checkpoint->step : 0;
}

RunSetup start_again(RunDir& run, const RunSetup& before) {
  const std::vector<Device>& devices = before.plan.devices;
  const std::vector<Device> left = answering(devices);
  RunSetup setup = resolve_resume(run, {}, {});
  // the limit counts from the beginning of the command
  setup.train->stop.after = before.train->stop.after;
  setup.train->stop.reserve = before.train->stop.reserve;
  const OptionTable& asked = before.train->table;
  if (asked.is_asked_for("stop.reserve"))
    setup.train->table.set("stop.reserve", asked.get("stop.reserve"),
                           {.kind = ValueSource::Kind::argument});
  check_frozen_batch(*setup.train, setup.prepared.facts, left);
  plan_again(setup, run, left, newest_good_step(run), /*may_try=*/true);
  if (left.size() != devices.size()) say(to_text(setup.plan, false));
  write_start(setup, run, true);
  return setup;
}

}  // namespace lockstep::cli
