#include "tools/monitor/live/live_view.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "tools/monitor/live/live_devices.h"

namespace lockstep {
namespace {

constexpr std::size_t history_samples = 120;  // more than the widest column shows
constexpr double look_up_again_s = 0.9;

const char* const help_text =
    "up down, j k       select a process\n"
    "PgUp PgDn Home End likewise, farther\n"
    "enter, d           the selected process, and what the doctor says of it\n"
    "s, S               sort by the next column; the other way round\n"
    "/                  show only processes whose user, command, run or PID holds\n"
    "                   what you type; enter keeps it, escape clears it\n"
    "p, space           pause: sampling goes on, the newest is shown afterwards\n"
    "escape, q          back; from the list q leaves, ctrl-C from everywhere\n"
    "\n"
    "activity           SM: share of the multiprocessors that had work; busy: of\n"
    "                   time in which some kernel ran, where there is no SM\n"
    "history            of the activity, newest on the right; a gap: not measured\n"
    "tens%, DRAM%       tensor cores: share of time; memory traffic: of the most\n"
    "held by            what keeps the clocks down\n"
    "PCIe, NVLink       bytes a second from and to the GPU\n"
    "n/a                this GPU or driver does not tell\n"
    "-                  no sample this time\n";

std::string time_text(double wall_s) {
  const auto whole = static_cast<std::time_t>(wall_s);
  std::tm local{};
  localtime_r(&whole, &local);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%H:%M:%S", &local);
  return text.data();
}

// The line, cut to `width`.
Line fitted(const Line& line, int width) {
  Line cut;
  for (const Span& span : line) {
    const std::string text = cut_cells(span.text, width);
    if (text.empty()) continue;
    width -= cells_of(text);
    cut.push_back({text, span.style});
  }
  return cut;
}

std::vector<std::string> text_rows(const std::string& text, int width) {
  std::vector<std::string> clean;
  for (const std::string& line : split(text, '\n'))
    for (const std::string& row : split(wrap_cells(clean_cells(line), width), '\n'))
      clean.push_back(row);
  while (!clean.empty() && clean.back().empty()) clean.pop_back();
  return clean;
}

}  // namespace

LiveView::LiveView(std::vector<GpuInfo> gpus, LiveOptions options)
    : gpus_(std::move(gpus)),
      options_(std::move(options)),
      history_(gpus_.size(), history_samples) {}

void LiveView::add(std::shared_ptr<const MonitorSample> sample) {
  history_.add(*sample);
  newest_ = std::move(sample);
  if (!paused_) show_newest();
}

void LiveView::show_newest() {
  if (!newest_ || newest_ == shown_) return;
  shown_ = newest_;
  look_up();
  make_rows();
  if (mode_ == Mode::page) renew_page();
}

// Looks up new processes at once. The others are looked up again only after a while, because
// samples may follow closely.
void LiveView::look_up() {
  const bool again = shown_->at_s - looked_up_s_ >= look_up_again_s;
  if (again) looked_up_s_ = shown_->at_s;
  ProcessNames names;
  for (const GpuSample& gpu : shown_->gpus)
    for (const GpuProcess& process : gpu.processes) {
      if (names.contains(process.pid)) continue;
      const auto before = names_.find(process.pid);
      names[process.pid] =
          again || before == names_.end() ? options_.find(process.pid) : before->second;
    }
  names_ = std::move(names);
}

void LiveView::make_rows() {
  if (!shown_) return;
  const std::size_t place = chosen_row();
  rows_ = process_rows(gpus_, *shown_, names_);
  std::erase_if(rows_, [&](const ProcessRow& row) { return !matches(row, filter_); });
  sort_rows(rows_, sort_, reversed_);
  if (chosen_row() < rows_.size() || rows_.empty()) return;
  // The selected row is gone, so the row that took its place is selected.
  const ProcessRow& next = rows_[any_chosen_ ? std::min(place, rows_.size() - 1) : 0];
  chosen_ = {.gpu = next.gpu, .pid = next.process.pid};
}

// Index of the selected row. rows_.size() if it is gone.
std::size_t LiveView::chosen_row() const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const ProcessRow& row) {
    return Chosen{.gpu = row.gpu, .pid = row.process.pid} == chosen_;
  });
  return static_cast<std::size_t>(found - rows_.begin());
}

void LiveView::move(long long by) {
  if (rows_.empty()) return;
  const auto last = static_cast<long long>(rows_.size()) - 1;
  const auto now = std::min(static_cast<long long>(chosen_row()), last);
  const ProcessRow& row = rows_[static_cast<std::size_t>(std::clamp(now + by, 0LL, last))];
  chosen_ = {.gpu = row.gpu, .pid = row.process.pid};
  any_chosen_ = true;
}

void LiveView::open_page() {
  if (chosen_row() >= rows_.size()) return;
  page_pid_ = chosen_.pid;
  any_chosen_ = true;
  mode_ = Mode::page;
  text_top_ = 0;
  page_text_.clear();
  renew_page();
}

// If the process has ended, its last page stays.
void LiveView::renew_page() {
  if (names_.contains(page_pid_))
    page_text_ = process_page(gpus_, *shown_, page_pid_, names_.at(page_pid_)) +
                 (options_.more ? "\n" + options_.more(page_pid_) : "");
  else if (const std::string ended = "ended: it is on no GPU any more\n\n";
           !page_text_.starts_with(ended))
    page_text_.insert(0, ended);
}

bool LiveView::press(const KeyPress& key) {
  if (key.key == Key::gone) return false;
  if (mode_ == Mode::filter) return press_in_filter(key), true;
  if (mode_ == Mode::list) return press_in_list(key);
  press_in_text(key);
  return true;
}

bool LiveView::press_in_list(const KeyPress& key) {
  const auto page = static_cast<long long>(page_rows_);
  switch (key.key) {
    case Key::character:
      return press_character(key.character);
    case Key::up:
      move(-1);
      break;
    case Key::down:
      move(1);
      break;
    case Key::page_up:
      move(-page);
      break;
    case Key::page_down:
      move(page);
      break;
    case Key::home:
      move(-static_cast<long long>(rows_.size()));
      break;
    case Key::end:
      move(static_cast<long long>(rows_.size()));
      break;
    case Key::enter:
      open_page();
      break;
    case Key::escape:
      filter_.clear();
      make_rows();
      break;
    default:
      break;
  }
  return true;
}

bool LiveView::press_character(char32_t character) {
  switch (character) {
    case 'q':
      return false;
    case 'p':
    case ' ':
      paused_ = !paused_;
      if (!paused_) show_newest();
      break;
    case 's':
      sort_ = static_cast<ProcessSort>((static_cast<std::size_t>(sort_) + 1) % process_sorts);
      reversed_ = false;
      make_rows();
      break;
    case 'S':
      reversed_ = !reversed_;
      make_rows();
      break;
    case '/':
      mode_ = Mode::filter;
      break;
    case 'j':
      move(1);
      break;
    case 'k':
      move(-1);
      break;
    case 'd':
      open_page();
      break;
    case '?':
      mode_ = Mode::help;
      text_top_ = 0;
      break;
    default:
      break;
  }
  return true;
}

void LiveView::press_in_filter(const KeyPress& key) {
  if (key.key == Key::enter) {
    mode_ = Mode::list;
  } else if (key.key == Key::escape) {
    filter_.clear();
    mode_ = Mode::list;
  } else if (key.key == Key::backspace) {
    // A whole character is removed, not a byte of it.
    while (!filter_.empty() && (static_cast<unsigned char>(filter_.back()) & 0xC0) == 0x80)
      filter_.pop_back();
    if (!filter_.empty()) filter_.pop_back();
  } else if (key.key == Key::character) {
    std::string typed;
    append_utf8(typed, key.character);
    filter_ += clean_cells(typed);
  }
  make_rows();
}

void LiveView::press_in_text(const KeyPress& key) {
  const auto by = [&](long long lines) {
    text_top_ = static_cast<std::size_t>(
        // text_lines limits it at the end
        std::max(0LL, static_cast<long long>(text_top_) + lines));
  };
  const auto page = static_cast<long long>(page_rows_);
  const char32_t character = key.key == Key::character ? key.character : 0;
  const bool back = key.key == Key::escape || character == 'q' || key.key == Key::enter;
  if (back || (character == '?' && mode_ == Mode::help))
    mode_ = Mode::list;
  else if (key.key == Key::up || character == 'k')
    by(-1);
  else if (key.key == Key::down || character == 'j')
    by(1);
  else if (key.key == Key::page_up)
    by(-page);
  else if (key.key == Key::page_down)
    by(page);
  else if (key.key == Key::home)
    text_top_ = 0;
  else if (character == 'p' || character == ' ')
    press_character(character);
}

// Unusual facts come first, because a narrow screen cuts off the end.
Line LiveView::title(int width) const {
  Line line;
  if (hanging_s_ >= options_.patience_s)
    line.push_back({cat("driver has not answered for ", fixed(hanging_s_, 0), " s  "), Style::bad});
  if (paused_) line.push_back({"PAUSED  ", Style::warning});
  line.push_back({"lockstep monitor", Style::bold});
  if (mode_ == Mode::page) line.push_back({cat("  process ", page_pid_), Style::bold});
  if (mode_ == Mode::help) line.push_back({"  keys", Style::bold});
  if (mode_ == Mode::list || mode_ == Mode::filter)
    line.push_back(
        {cat("  ", gpus_.size(), gpus_.size() == 1 ? " GPU" : " GPUs", ", ",
             options_.recording.empty() ? cat("every ", general(options_.interval_s, 3), "s")
                                        : cat("recording ", clean_cells(options_.recording)))});
  if (shown_) line.push_back({"  " + time_text(shown_->wall_s)});
  return fitted(line, width);
}

Line LiveView::footer(int width) const {
  const char* const mark = options_.utf8 ? "…" : "~";
  Line line;
  if (mode_ == Mode::filter) {
    const std::string keys = "  enter keeps, esc clears";
    line = {{"filter: ", Style::bold}, {filter_ + "_", Style::bold}, {keys, Style::dim}};
  } else if (mode_ != Mode::list) {
    line = {{"esc back  up down scroll  p pause", Style::dim}};
  } else {
    if (!filter_.empty())
      line = {{cut_cells("filter: " + filter_, width / 2, mark) + "  ", Style::bold}};
    line.push_back({"q quit  ? keys  p pause  s S sort  / filter  enter process", Style::dim});
  }
  return fitted(line, width);
}

std::vector<Line> LiveView::lines(int width, int height) {
  if (width <= 0 || height <= 0) return {};
  std::vector<Line> lines;
  if (mode_ == Mode::page)
    lines = text_lines(page_text_, width, height);
  else if (mode_ == Mode::help)
    lines = text_lines(help_text, width, height);
  else
    lines = list_lines(width, height);
  if (lines.size() > static_cast<std::size_t>(height))
    lines.resize(static_cast<std::size_t>(height));
  for (Line& line : lines) line = fitted(line, width);
  return lines;
}

std::vector<Line> LiveView::text_lines(const std::string& text, int width, int height) {
  const std::vector<std::string> rows = text_rows(text, width);
  // title and footer take 2 lines
  const auto room = static_cast<std::size_t>(std::max(1, height - 2));
  page_rows_ = room;
  text_top_ = std::min(text_top_, rows.size() > room ? rows.size() - room : 0);
  std::vector<Line> lines{title(width)};
  for (std::size_t i = 0; i < room; ++i) {
    const std::size_t row = text_top_ + i;
    lines.push_back(row < rows.size() ? Line{{rows[row]}} : Line{});
  }
  lines.push_back(footer(width));
  return lines;
}

std::vector<Line> LiveView::list_lines(int width, int height) {
  std::vector<Line> lines{title(width)};
  if (!shown_) {
    lines.push_back({{"waiting for the first sample", Style::dim}});
    while (lines.size() + 1 < static_cast<std::size_t>(height)) lines.emplace_back();
    lines.push_back(footer(width));
    return lines;
  }
  std::vector<Line> devices = device_lines(gpus_, *shown_, history_, width, options_.utf8);
  // Five lines are reserved: title, header, header of processes, one process, footer. Devices take
  // the rest.
  const auto room = static_cast<std::size_t>(std::max(1, height - 5));
  if (gpus_.size() > room) {
    const std::size_t kept = room > 1 ? room - 1 : 1;
    devices.resize(1 + kept);
    if (room > 1)
      devices.push_back({{cat("+", gpus_.size() - kept, " more GPUs: too few lines"), Style::dim}});
  }
  lines.insert(lines.end(), devices.begin(), devices.end());
  add_processes(lines, width, height);
  return lines;
}

std::string LiveView::why_no_rows() const {
  if (!filter_.empty()) return "no process matches the filter";
  const bool known = std::all_of(shown_->gpus.begin(), shown_->gpus.end(),
                                 [](const GpuSample& gpu) { return gpu.processes_known; });
  return known ? "no processes" : "the driver does not tell all processes";
}

void LiveView::add_processes(std::vector<Line>& lines, int width, int height) {
  const int left = height - static_cast<int>(lines.size()) - 2;  // header of processes, and footer
  if (left >= 1) {
    const auto room = static_cast<std::size_t>(left);
    const std::size_t chosen = chosen_row();
    page_rows_ = room;
    if (chosen < rows_.size()) {
      first_row_ = std::min(first_row_, chosen);
      if (chosen >= first_row_ + room) first_row_ = chosen - room + 1;
    }
    first_row_ = std::min(first_row_, rows_.size() > room ? rows_.size() - room : 0);
    const std::size_t end = std::min(rows_.size(), first_row_ + room);
    const std::string note =
        rows_.size() > room ? cat(first_row_ + 1, "-", end, " of ", rows_.size()) : "";
    lines.push_back(process_head(sort_, reversed_, note, width));
    for (std::size_t i = first_row_; i < end; ++i)
      lines.push_back(process_line(rows_[i], i == chosen, width, options_.utf8));
    if (rows_.empty()) lines.push_back({{"  " + why_no_rows(), Style::dim}});
  }
  while (lines.size() + 1 < static_cast<std::size_t>(height)) lines.emplace_back();
  lines.push_back(footer(width));
}

}  // namespace lockstep
