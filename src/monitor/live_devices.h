// The rows of devices of the live view: as many columns as the width has room for.
#pragma once

#include <vector>

#include "devices/gpu_probe.h"
#include "monitor/history.h"
#include "monitor/sampler.h"
#include "monitor/screen.h"

namespace lockstep {

// Which metric a GPU's activity is: SM activity, or the busy % of NVML where that is unsupported.
GpuMetric activity_of(const GpuSample& gpu);
// "97 SM", "97 busy", "- SM", "n/a".
std::string activity_text(const GpuSample& gpu);

// A head, then a row per GPU, each of at most `width` cells. gpus: of the sample's, in its order.
// history: of the same GPUs; what is newer than the sample is left out.
std::vector<Line> device_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                               const History& history, int width, bool utf8);

}  // namespace lockstep
