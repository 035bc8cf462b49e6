// Whether a batch on GPUs would have been done sooner by the CPU.
#pragma once

#include <string>

#include "recipes/gbdt/batch/records.h"

namespace lockstep::gbdt {

// Trains the window that took a middling time on a GPU once more, on one core and into a folder
// that goes, and says which gets more windows done: a line, or "" where none was trained on a GPU
// or it cannot be told. Windows with more rows than a core trains in seconds are left out.
std::string compare_with_cpu(const BatchRecords& records);

// How many windows a minute the two train, of a window's seconds on each: all cores, and `gpus`
// with four windows on each at once.
struct DeviceRates {
  double cpu_per_minute = 0, gpu_per_minute = 0;
};
DeviceRates device_rates(double cpu_s, int cores, double gpu_s, int gpus);

}  // namespace lockstep::gbdt
