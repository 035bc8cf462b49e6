// Shows the live view of `lockstep monitor` on a terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/interrupts.h"
#include "tools/monitor/live/live_view.h"
#include "tools/monitor/sample_source.h"

namespace lockstep::cli {

struct LiveWatch {
  LiveOptions view;
  double end_s = 0;  // end on the monotonic clock; infinity if only the user ends the view
  std::function<bool()> ended;  // returns whether the watched process has ended; called repeatedly
  // Changes each sample before it is shown. For example, it keeps only some processes.
  std::function<MonitorSample(const MonitorSample&)> prepared;
};

// Whether standard input and output are terminals.
bool on_a_terminal();

// Shows the samples until the user leaves, an interrupt comes, end_s is reached, or the watched
// process ends. Then returns true. If the terminal cannot be drawn on, shows nothing, writes the
// reason into `why`, and returns false.
bool watch_live(const std::vector<GpuInfo>& gpus, SampleSource& source,
                const NotedInterrupts& interrupts, LiveWatch watch, std::string& why);

}  // namespace lockstep::cli
