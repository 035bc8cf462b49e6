// Rows of devices in the live view, with as many columns as fit the width.
#pragma once

#include <vector>

#include "core/devices/gpus/gpu_probe.h"
#include "tools/monitor/live/history.h"
#include "tools/monitor/live/screen.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

// The metric for a GPU's activity: SM activity, or NVML's busy % if that is unsupported.
GpuMetric activity_of(const GpuSample& gpu);
// "97 SM", "97 busy", "- SM", "n/a".
std::string activity_text(const GpuSample& gpu);

// A header, then a row per GPU, each of at most `width` cells. gpus: those of the sample, in its
// order. history: of the same GPUs; values newer than the sample are left out.
std::vector<Line> device_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                               const History& history, int width, bool utf8);

}  // namespace lockstep
