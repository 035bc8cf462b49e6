// Estimates whether the CPU would have trained a batch faster than the GPUs that trained it.
#pragma once

#include <string>

#include "recipes/gbdt/batch/records.h"

namespace lockstep::gbdt {

// Trains the window with the median training time on a GPU again, on one core and into a temporary
// folder. Returns a line that says whether CPU or GPUs train more windows per minute. The line is
// empty if no window was trained on a GPU, or if the comparison fails. Windows with more than
// 100,000 training rows are not chosen, because a core does not train them in seconds.
std::string compare_with_cpu(const BatchRecords& records);

// Trained windows per minute: by all CPU cores together, and by `gpus` GPUs with four concurrent
// windows on each. They are computed from the seconds that one window takes on a core (cpu_s) and
// on a GPU (gpu_s).
struct DeviceRates {
  double cpu_per_minute = 0, gpu_per_minute = 0;
};
DeviceRates device_rates(double cpu_s, int cores, double gpu_s, int gpus);

}  // namespace lockstep::gbdt
