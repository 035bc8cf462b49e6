// lockstep monitor on a terminal: the live view.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/interrupts.h"
#include "monitor/live_view.h"
#include "monitor/sample_source.h"

namespace lockstep::cli {

struct LiveWatch {
  LiveOptions view;
  double end_s = 0;             // on the monotonic clock; infinity: until the user leaves
  std::function<bool()> ended;  // whether what is watched has; asked again and again
  // What is shown of a sample: only some processes, say.
  std::function<MonitorSample(const MonitorSample&)> prepared;
};

// Whether standard input and output are terminals.
bool on_a_terminal();

// Shows the samples until the user leaves, an interrupt comes, or what is watched ends. False, with
// why, where the terminal cannot be drawn on: nothing was shown then.
bool watch_live(const std::vector<GpuInfo>& gpus, SampleSource& source,
                const NotedInterrupts& interrupts, LiveWatch watch, std::string& why);

}  // namespace lockstep::cli
