// The live view, independent of a terminal. It takes samples and keys, and returns the lines of the
// screen.
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
  // Returns additional text for the page about one process, of any length. It is called when the
  // page opens and for each sample that is shown while the page is open. It runs on the thread that
  // calls LiveView, so it must return within some milliseconds.
  std::function<std::string(int pid)> more{};
  bool utf8 = true;       // whether the terminal shows more than ASCII
  double interval_s = 1;  // interval of the samples, which the view shows
  std::string recording;  // name of the recording if one is replayed; else empty
  // duration of a driver call after which the view reports that the driver hangs
  double patience_s = driver_patience_s;
};

// Use an object on one thread only.
class LiveView {
 public:
  // gpus: the GPUs of all samples, in the order of the samples.
  LiveView(std::vector<GpuInfo> gpus, LiveOptions options);

  void add(std::shared_ptr<const MonitorSample> sample);  // call it in chronological order
  // duration of the driver call in progress
  void set_hanging(double seconds) { hanging_s_ = seconds; }
  bool press(const KeyPress& key);  // returns false if the user wants to leave
  // Returns at most `height` lines of at most `width` cells.
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
  std::shared_ptr<const MonitorSample> newest_, shown_;  // shown_ is older while the view is paused
  ProcessNames names_;
  double looked_up_s_ = 0;
  std::vector<ProcessRow> rows_;  // rows after filtering and sorting
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
