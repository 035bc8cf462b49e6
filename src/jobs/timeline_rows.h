// Who ran what when, as rows of a chart.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jobs/analysis.h"
#include "media/chart.h"

namespace lockstep {

// "GPU 3", "GPU 3 of HOST", or the beginning of its UUID.
std::string device_name(const DeviceUse& use);

// A row per device and slot, or slot without a device, by name. tip: of an attempt. Of more than
// 3000 attempts those of one outcome that lie nearer to each other than a pixel of `width` become
// one span, whose tip says how many they are.
std::vector<GanttRow> timeline_rows(const BatchAnalysis& analysis, int width,
                                    const std::function<std::string(const AttemptSpan&)>& tip);

}  // namespace lockstep
