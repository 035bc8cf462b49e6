// Finds the devices that a value of --devices means. Also translates values of other programs'
// options for devices.
#pragma once

#include "core/config/synonym.h"
#include "core/devices/device.h"
#include "tools/cli/words/foreign_names.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::cli {

// Returns the number of devices that a value of --devices means; 0 if unknown. counts_devices: as
// in FlagsHere.
std::size_t devices_in(const std::string& spec, bool counts_devices);

// Replaces values of --devices that name a kind of GPU, such as "GPU T4 x 2" of notebook services.
// If --devices of this command accepts kinds, the value becomes `typed`. Otherwise it becomes
// "all". typed: the value as the user typed it.
void replace_kinds(const FlagsHere& flags, const std::string& typed, std::vector<OurWord>& words);

// Returns the devices that --devices names, or else all devices of this machine. Returns an empty
// list if the devices are unknown.
std::vector<Device> devices_of_line(const FlagsHere& flags);

bool has_gpus(const std::vector<Device>& devices);

}  // namespace lockstep::cli
