// Makes the rows of a chart that shows attempts over time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/media/charts/chart.h"
#include "tools/jobs/analysis/analysis.h"

namespace lockstep {

// Returns "GPU 3", "GPU 3 of HOST", or the beginning of the UUID if the index is unknown.
std::string device_name(const DeviceUse& use);

// Returns a row per device and slot, sorted by name. Attempts without a device have a row per slot.
// tip: returns the text for an attempt. If there are more than 3000 attempts, neighbours with the
// same outcome become one span if they are closer than a pixel of `width`. The text of the span
// then gives their number.
std::vector<GanttRow> timeline_rows(const BatchAnalysis& analysis, int width,
                                    const std::function<std::string(const AttemptSpan&)>& tip);

}  // namespace lockstep
