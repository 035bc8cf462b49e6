#include "tools/cli/words/translation/device_words.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/gpus/visible_gpus.h"
#include "tools/cli/context.h"
#include "tools/cli/words/both_words.h"

#include <algorithm>
#include <cstdlib>

namespace lockstep::cli {
namespace {

// The devices that a value of --devices means. Devices given by index need not exist. Throws Error
// if the value is invalid.
std::vector<Device> devices_of_spec(const std::string& spec, bool counts_devices) {
  if (!counts_devices && indexes_in(spec) > 0) {
    Device gpu;
    gpu.kind = DeviceKind::cuda;
    return std::vector<Device>(indexes_in(spec), gpu);
  }
  return imagine_devices(spec, probe(), host_info(), std::getenv("CUDA_VISIBLE_DEVICES"));
}

}  // namespace

std::size_t devices_in(const std::string& spec, bool counts_devices) try {
  return devices_of_spec(spec, counts_devices).size();
} catch (const Error&) {
  return 0;
}

namespace {

bool is_list_of_devices(const std::string& value) {
  const std::vector<std::string> parts = split(value, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "all" || part == "cpu" || part.starts_with("cpu:") || is_uuid(part) ||
           whole_number(part).has_value();
  });
}

// Whether the value names GPUs by model, as "2xT4" does. These GPUs need not exist on this machine.
bool names_kinds(const std::string& value) {
  const bool is_number = value.find_first_not_of("-0123456789") == value.npos;
  const bool has_number = value.find_first_of("0123456789") != value.npos;
  return has_number && !is_number && devices_in(value, true) > 0;
}

}  // namespace

void replace_kinds(const FlagsHere& flags, const std::string& typed, std::vector<OurWord>& words) {
  for (OurWord& word : words) {
    if (word.name != "--devices") continue;
    const bool is_list = is_list_of_devices(word.value);
    if (flags.takes_kinds && (word.value == "all" || !is_list) && names_kinds(typed))
      word.value = typed;
    else if (!is_list)
      word.value = "all";
  }
}

std::vector<Device> devices_of_line(const FlagsHere& flags) try {
  return devices_of_spec(flags.devices.empty() ? "all" : flags.devices, flags.counts_devices);
} catch (const Error&) {
  return {};
}

bool has_gpus(const std::vector<Device>& devices) {
  return !devices.empty() && devices.front().kind == DeviceKind::cuda;
}

}  // namespace lockstep::cli
