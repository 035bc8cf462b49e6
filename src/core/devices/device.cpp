// Names of devices in messages.
#include "core/devices/device.h"

#include "core/base/text/text.h"

namespace lockstep {

std::string describe(const Device& device) {
  if (device.kind == DeviceKind::cpu) return cat("cpu:", device.index);
  return cat("cuda:", device.index, " (", device.name, ")");
}

}  // namespace lockstep
