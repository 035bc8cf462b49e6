// Estimates whether the CPU would have completed a batch on GPUs sooner.
#pragma once

#include <string>

#include "recipes/gbdt/batch/records.h"

namespace lockstep::gbdt {

// Trains the window with the median time on a GPU once more, on one core and into a temporary
// folder. Returns a line that says whether CPU or GPUs complete more windows. "" if no window was
// trained on a GPU, or if it cannot be told. Windows with too many rows for a core to train in
// seconds are left out.
std::string compare_with_cpu(const BatchRecords& records);

// How many windows per minute all cores train, and how many `gpus` GPUs train with four concurrent
// windows on each. Both follow from the seconds that one window takes on a core and on a GPU.
struct DeviceRates {
  double cpu_per_minute = 0, gpu_per_minute = 0;
};
DeviceRates device_rates(double cpu_s, int cores, double gpu_s, int gpus);

}  // namespace lockstep::gbdt
