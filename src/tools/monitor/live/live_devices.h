// Makes the rows of devices in the live view, with as many columns as fit into the width.
#pragma once

#include <vector>

#include "core/devices/gpus/gpu_probe.h"
#include "tools/monitor/live/history.h"
#include "tools/monitor/live/screen.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

// Returns the metric for the activity of a GPU: SM activity, or NVML's busy % if SM activity is
// unsupported.
GpuMetric activity_of(const GpuSample& gpu);
// Returns the activity as text: "97 SM", "97 busy", "- SM" or "n/a".
std::string activity_text(const GpuSample& gpu);

// Returns a header and a row per GPU, each of at most `width` cells. gpus: the GPUs of the sample,
// in its order. history: values of the same GPUs; values that are newer than the sample are left
// out.
std::vector<Line> device_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                               const History& history, int width, bool utf8);

}  // namespace lockstep
