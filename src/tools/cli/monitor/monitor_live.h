// lockstep monitor on a terminal: the live view.
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
  double end_s = 0;             // on the monotonic clock; infinity: until the user leaves
  std::function<bool()> ended;  // called repeatedly: whether the watched process has ended
  // Filters each sample before it is shown, for instance to some processes.
  std::function<MonitorSample(const MonitorSample&)> prepared;
};

// Whether standard input and output are terminals.
bool on_a_terminal();

// Shows the samples until the user leaves, an interrupt comes, or the watched process ends. If the
// terminal cannot be drawn on, shows nothing and returns false, with the reason in `why`.
bool watch_live(const std::vector<GpuInfo>& gpus, SampleSource& source,
                const NotedInterrupts& interrupts, LiveWatch watch, std::string& why);

}  // namespace lockstep::cli
