// Estimates whether the CPU would have completed a batch on GPUs sooner.
#pragma once

#include <string>

#include "recipes/gbdt/batch/records.h"

namespace lockstep::gbdt {

// Trains the window with the median time on a GPU once more. This time, one core trains it, into a
// temporary folder. Returns a line that says whether CPU or GPUs complete more windows. The line is
// empty if no window was trained on a GPU, or if the comparison fails. Windows with more than
// 100,000 rows are left out, because a core does not train them in seconds.
std::string compare_with_cpu(const BatchRecords& records);

// Windows per minute of all cores, and of `gpus` GPUs with four concurrent windows on each. They
// follow from the seconds that one window takes on a core (cpu_s) and on a GPU (gpu_s).
struct DeviceRates {
  double cpu_per_minute = 0, gpu_per_minute = 0;
};
DeviceRates device_rates(double cpu_s, int cores, double gpu_s, int gpus);

}  // namespace lockstep::gbdt
