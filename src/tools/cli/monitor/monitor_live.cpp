#include "tools/cli/monitor/monitor_live.h"

#include "core/base/clock.h"
#include "tools/cli/monitor/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace lockstep::cli {
namespace {

constexpr double look_at_keys_s = 0.1;  // interval between checks for samples and interrupts

// Handles all pressed keys. Returns whether to continue.
bool take_keys(Terminal& terminal, LiveView& view, bool& changed) {
  double wait_s = look_at_keys_s;
  for (KeyPress key; (key = terminal.key(wait_s)).key != Key::none; wait_s = 0) {
    if (!view.press(key)) return false;
    changed = true;
  }
  return true;
}

}  // namespace

bool on_a_terminal() { return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

bool watch_live(const std::vector<GpuInfo>& gpus, SampleSource& source,
                const NotedInterrupts& interrupts, LiveWatch watch, std::string& why) {
  const std::unique_ptr<Terminal> terminal = Terminal::open(why);
  if (!terminal) return false;
  watch.view.utf8 = terminal->utf8();
  const double patience_s = watch.view.patience_s;
  LiveView view(gpus, std::move(watch.view));
  Clock& clock = system_clock();
  long long seen = 0;
  bool changed = true;
  double hung_s = 0;
  while (!interrupts.came() && clock.now_s() < watch.end_s && !watch.ended()) {
    // A replay may deliver samples faster than the screen is drawn.
    const double draw_s = clock.now_s() + look_at_keys_s;
    for (std::shared_ptr<const MonitorSample> sample;
         clock.now_s() < draw_s && (sample = source.next(seen, 0));) {
      seen = sample->number;
      view.add(std::make_shared<const MonitorSample>(watch.prepared(*sample)));
      changed = true;
    }
    const double hanging_s = source.hanging_s();
    view.set_hanging(hanging_s);
    changed = changed || std::max(hanging_s, hung_s) >= patience_s;
    hung_s = hanging_s;
    if (changed) terminal->draw(view.lines(terminal->width(), terminal->height()));
    changed = false;
    if (!take_keys(*terminal, view, changed)) break;
  }
  return true;
}

}  // namespace lockstep::cli
