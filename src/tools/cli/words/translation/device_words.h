// The devices that a value of --devices, or of another program's name for it, means.
#pragma once

#include "core/config/synonym.h"
#include "core/devices/device.h"
#include "tools/cli/words/foreign_names.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::cli {

// 0: nobody knows.
std::size_t devices_in(const std::string& spec, bool counts_devices);

// A kind of GPU, as notebook services have it for an accelerator: "GPU T4 x 2". Where --devices
// takes none, it stands for all GPUs that there are.
void replace_kinds(const FlagsHere& flags, const std::string& typed, std::vector<OurWord>& words);

// That --devices names, or this machine has; none: nobody knows.
std::vector<Device> devices_of_line(const FlagsHere& flags);

bool has_gpus(const std::vector<Device>& devices);

}  // namespace lockstep::cli
