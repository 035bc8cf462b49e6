// The live view without a terminal: samples and keys in, the screen's lines out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"
#include "tools/monitor/live/history.h"
#include "tools/monitor/live/live_processes.h"
#include "tools/monitor/live/screen.h"
#include "tools/monitor/process_info.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

struct LiveOptions {
  FindProcess find;
  // Further text for a process's page, of any length. It is called when the page opens and for each
  // sample shown meanwhile, on the caller's thread, so it must return within some milliseconds.
  std::function<std::string(int pid)> more{};
  bool utf8 = true;                       // whether the terminal shows more than ASCII
  double interval_s = 1;                  // interval of the samples, for display
  std::string recording;                  // file of the recording, if one is replayed
  double patience_s = driver_patience_s;  // time until the view reports that the driver hangs
};

// Use it on one thread.
class LiveView {
 public:
  // gpus: those of every sample, in its order.
  LiveView(std::vector<GpuInfo> gpus, LiveOptions options);

  void add(std::shared_ptr<const MonitorSample> sample);      // in chronological order
  void set_hanging(double seconds) { hanging_s_ = seconds; }  // for the driver call in progress
  bool press(const KeyPress& key);                            // false: the user wants to leave
  // At most `height` lines of at most `width` cells.
  std::vector<Line> lines(int width, int height);

 private:
  enum class Mode { list, filter, page, help };
  struct Chosen {
    std::size_t gpu = 0;
    int pid = 0;
    bool operator==(const Chosen&) const = default;
  };

  void show_newest();
  void look_up();
  void make_rows();
  void open_page();
  void renew_page();
  bool press_in_list(const KeyPress& key);
  bool press_character(char32_t character);
  void press_in_filter(const KeyPress& key);
  void press_in_text(const KeyPress& key);
  void move(long long by);
  std::size_t chosen_row() const;

  Line title(int width) const;
  Line footer(int width) const;
  std::vector<Line> list_lines(int width, int height);
  void add_processes(std::vector<Line>& lines, int width, int height);
  std::vector<Line> text_lines(const std::string& text, int width, int height);
  std::string why_no_rows() const;

  std::vector<GpuInfo> gpus_;
  LiveOptions options_;
  History history_;
  std::shared_ptr<const MonitorSample> newest_, shown_;  // shown_ lags behind while paused
  ProcessNames names_;
  double looked_up_s_ = 0;
  std::vector<ProcessRow> rows_;  // filtered and sorted
  Chosen chosen_;
  bool any_chosen_ = false;
  std::size_t first_row_ = 0, page_rows_ = 1;

  Mode mode_ = Mode::list;
  bool paused_ = false, reversed_ = false;
  ProcessSort sort_ = ProcessSort::gpu;
  std::string filter_;
  int page_pid_ = 0;
  std::string page_text_;
  std::size_t text_top_ = 0;  // first visible line of a page or the help
  double hanging_s_ = 0;
};

}  // namespace lockstep
