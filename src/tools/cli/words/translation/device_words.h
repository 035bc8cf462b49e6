// The devices that a value of --devices means, or a value of another program's name for it.
#pragma once

#include "core/config/synonym.h"
#include "core/devices/device.h"
#include "tools/cli/words/foreign_names.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::cli {

// The number of devices; 0: unknown.
std::size_t devices_in(const std::string& spec, bool counts_devices);

// Replaces values that are kinds of GPU in the form of notebook services: "GPU T4 x 2". If
// --devices takes no kinds, the value becomes "all": all GPUs that exist.
void replace_kinds(const FlagsHere& flags, const std::string& typed, std::vector<OurWord>& words);

// The devices that --devices names, or that this machine has. None: unknown.
std::vector<Device> devices_of_line(const FlagsHere& flags);

bool has_gpus(const std::vector<Device>& devices);

}  // namespace lockstep::cli
