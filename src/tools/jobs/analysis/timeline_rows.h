// Attempts over time as rows of a chart.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/media/charts/chart.h"
#include "tools/jobs/analysis/analysis.h"

namespace lockstep {

// "GPU 3", "GPU 3 of HOST", or the beginning of its UUID.
std::string device_name(const DeviceUse& use);

// A row per device and slot, or per slot without a device, sorted by name. tip: text for an
// attempt. If there are more than 3000 attempts, neighbours with the same outcome that are closer
// than a pixel of `width` become one span. Its tip gives their number.
std::vector<GanttRow> timeline_rows(const BatchAnalysis& analysis, int width,
                                    const std::function<std::string(const AttemptSpan&)>& tip);

}  // namespace lockstep
