#include "tools/cli/batch/batch_view.h"

#include <algorithm>
#include <cmath>

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "core/config/options.h"
#include "tools/cli/batch/batch_screen.h"
#include "tools/cli/context.h"
#include "tools/jobs/analysis/batch_text.h"

namespace lockstep::cli {
namespace {

constexpr double terminal_interval_s = 0.5, plain_interval_s = 30;
// most failures that are shown at once; the summary names the command that lists all
constexpr std::int64_t most_told = 50;

std::int64_t over(const BatchCounts& counts) {
  return counts.done + counts.failed + counts.skipped + counts.cancelled;
}

}  // namespace

BatchView::BatchView(const Scheduler& scheduler, const BatchFolder& batch,
                     const std::vector<Device>& devices)
    : scheduler_(scheduler),
      batch_(batch),
      devices_(devices),
      terminal_(stderr_is_terminal()),
      begun_s_(system_clock().now_s()),
      shown_s_(begun_s_),
      done_at_begin_(over(scheduler.counts())) {
  if (scheduler.adopted() > 0)
    say(cat(scheduler.adopted(), " jobs of an earlier start still run, and are waited for"));
  if (scheduler.cut_short() > 0)
    say(cat(scheduler.cut_short(), " jobs were cut short, and run again"));
}

double BatchView::interval_s() const { return terminal_ ? terminal_interval_s : plain_interval_s; }

void BatchView::clear() {
  if (drawn_ == 0) return;
  const std::string up = drawn_ > 1 ? cat("\x1b[", drawn_ - 1, "A") : "";
  draw_on_terminal(cat("\r", up, "\x1b[J"), "");
  drawn_ = 0;
}

void BatchView::draw() {
  std::vector<ScreenDevice> devices;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    ScreenDevice device{.name = cat("GPU ", devices_[i].index)};
    if (const DeviceWatch* const watch = scheduler_.watch()) {
      device.activity_percent = watch->activity_percent(i);
      device.used_bytes = watch->used_bytes(i);
      device.total_bytes = watch->total_bytes(i);
    }
    const auto waits = scheduler_.waits_for().find(static_cast<int>(i));
    if (waits != scheduler_.waits_for().end()) device.waits_for = waits->second;
    devices.push_back(std::move(device));
  }
  const double now = system_clock().now_s();
  std::vector<ScreenSlot> slots;
  for (const RunningAttempt* const running : scheduler_.running()) {
    std::vector<std::string> where;
    for (const int device : running->placement.devices) {
      ++devices[static_cast<std::size_t>(device)].jobs;
      where.push_back(devices[static_cast<std::size_t>(device)].name);
    }
    slots.push_back({.slot = running->placement.slot,
                     .job = running->job.name,
                     .where = join(where, ", "),
                     .seconds = now - running->begun_s});
  }
  std::sort(slots.begin(), slots.end(),
            [](const ScreenSlot& a, const ScreenSlot& b) { return a.slot < b.slot; });
  const std::vector<std::string> lines =
      batch_screen(line(), devices, slots, std::max(terminal_width() - 1, 20),
                   std::max(terminal_height() - 1, 1));
  clear();
  draw_on_terminal("", join(lines, "\n"));
  drawn_ = lines.size();
}

void BatchView::ended(const RunningAttempt& running, const Settled& settled) {
  const AttemptOutcome outcome = settled.end.outcome;
  if (outcome == AttemptOutcome::done || outcome == AttemptOutcome::skipped ||
      outcome == AttemptOutcome::stopped)
    return;
  if (++told_failures_ > most_told) return;
  clear();
  say(failure_text(batch_, running, settled));
  if (told_failures_ == most_told) say("further failures are not shown as they come");
}

void BatchView::note(const std::string& text) {
  clear();
  say(text);
}

std::string BatchView::line() const {
  const BatchCounts& counts = scheduler_.counts();
  const double passed = system_clock().now_s() - begun_s_;
  const auto since = static_cast<double>(over(counts) - done_at_begin_);
  std::string text = counts_text(counts);
  if (since > 0 && passed > 0) {
    const double rate = since / passed;
    text += cat("; ", fixed(rate * 60, rate * 60 < 10 ? 1 : 0), " per minute");
    if (counts.left() > 0)
      text += cat(", about ",
                  format_duration({std::ceil(static_cast<double>(counts.left()) / rate)}), " left");
  }
  if (scheduler_.paused()) text += "; paused";
  return text;
}

// Reports each device that another program uses, once for each such program.
void BatchView::tell_waits() {
  for (const auto& [device, who] : scheduler_.waits_for()) {
    std::string& told = told_waits_[device];
    if (told == who) continue;
    told = who;
    clear();
    say(cat(describe(devices_[static_cast<std::size_t>(device)]), " is used by ", who,
            ": jobs wait for it, or go to others; --share uses it all the same"));
  }
}

void BatchView::show() {
  tell_waits();
  const double now = system_clock().now_s();
  if (now < shown_s_ + interval_s()) return;
  shown_s_ = now;
  if (!terminal_) {
    say(line());
    return;
  }
  draw();
}

void BatchView::finish() {
  clear();
  if (!scheduler_.why_ending().empty()) say(cat("ended early: ", scheduler_.why_ending()));
}

}  // namespace lockstep::cli
