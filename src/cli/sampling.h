// What commands that sample GPUs share: their begin, and their end where the driver hangs.
#pragma once

#include <functional>
#include <string>

#include "monitor/sampler.h"

namespace lockstep::cli {

// Throws Error where there is no GPU to "watch", say, with the reason.
void check_gpus(const GpuReader& reader, const std::string& purpose);

// The code of `command`, which uses the sampler. Where a driver call hangs at its end the sampler
// is left to itself, and the program ends here: the library cannot be shut down.
int with_sampler(Sampler& sampler, const std::function<int()>& command);

}  // namespace lockstep::cli
