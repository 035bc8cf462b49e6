#include "tools/cli/train/training_leases.h"

#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/cli/context.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/jobs/schedule/lease.h"

namespace lockstep::cli {

std::vector<UniqueFd> lease_for_training(const std::vector<Device>& devices) {
  std::vector<UniqueFd> held;
  if (std::getenv(attempt_variable) != nullptr) return held;
  for (const Device& device : devices) {
    if (device.kind != DeviceKind::cuda) continue;
    try {
      DeviceLeases leases(DeviceLeases::usual_folder());
      auto taken =
          leases.take_for_training(device.uuid, cat("a training (process ", ::getpid(), ")"));
      if (taken)
        std::move(taken->begin(), taken->end(), std::back_inserter(held));
      else
        say(cat("warning: ", describe(device), " is also used by ",
                join(leases.holders(device.uuid), ", ")));
    } catch (const Error& error) {
      say(cat("warning: batches will not know that ", describe(device),
              " is in use: ", error.what()));
    }
  }
  return held;
}

}  // namespace lockstep::cli
