// Whether a batch on GPUs would have been done sooner by the CPU.
#pragma once

#include <string>

#include "recipes/gbdt/batch/records.h"

namespace lockstep::gbdt {

// Takes the window with the median time on a GPU and trains it once more, on one core and into a
// temporary folder. Says in a line which gets more windows done. "" if no window was trained on a
// GPU, or if it cannot be told. Windows with more rows than a core trains in seconds are left out.
std::string compare_with_cpu(const BatchRecords& records);

// How many windows a minute all cores train, and how many `gpus` GPUs train with four windows on
// each at once. Both follow from a window's seconds on each.
struct DeviceRates {
  double cpu_per_minute = 0, gpu_per_minute = 0;
};
DeviceRates device_rates(double cpu_s, int cores, double gpu_s, int gpus);

}  // namespace lockstep::gbdt
