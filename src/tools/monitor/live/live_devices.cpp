#include "tools/monitor/live/live_devices.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "tools/monitor/live/sparkline.h"
#include "tools/monitor/reading_text.h"

namespace lockstep {
namespace {

struct OneGpu {
  const GpuInfo& info;
  const GpuSample& sample;
  const Reading& operator[](GpuMetric metric) const { return sample[metric]; }
};

// Both numbers, or one text if both are missing in the same way.
std::string of_two(const std::string& a, const std::string& b) {
  return a == b && (a == "n/a" || a == "-") ? a : a + "/" + b;
}

std::string memory_text(const OneGpu& gpu) {
  return of_two(number_text(gpu[GpuMetric::memory_used], gib_per_byte, 1),
                number_text(gpu[GpuMetric::memory_total], gib_per_byte));
}

std::string power_text(const OneGpu& gpu) {
  return of_two(number_text(gpu[GpuMetric::power]), number_text(gpu[GpuMetric::power_limit]));
}

// Bytes per second in few cells, such as "12.3G".
std::string short_traffic(const Reading& reading) {
  if (reading.state != ReadingState::measured) return missing_text(reading);
  std::string text = format_bytes(reading.value);  // such as "12.3 GiB"
  const std::size_t space = text.find(' ');
  return text.substr(0, space) + text.substr(space + 1, 1);
}

Style limit_style(const Reading& reading) {
  // bits of nvmlClocksEventReason*
  constexpr unsigned long long heat = 0x20 | 0x40, fault = 0x08 | 0x80;
  if (reading.state != ReadingState::measured) return Style::dim;
  const auto bits = static_cast<unsigned long long>(reading.value);
  if (bits & fault) return Style::bad;
  return bits & heat ? Style::warning : Style::plain;
}

struct Column {
  const char* head;
  int least, most;  // number of cells
  int weight;       // columns with the lowest weight are left out first
  bool left;        // flush left
  std::string (*text)(const OneGpu&);
  Style (*style)(const OneGpu&) = [](const OneGpu&) { return Style::plain; };
};

constexpr int weight_at_80 = 40;  // all columns with at least this weight fit into 80 cells
constexpr std::array shown_columns{
    Column{"GPU", 3, 3, 100, false, [](const OneGpu& gpu) { return cat(gpu.info.index); }},
    Column{"activity", 8, 8, 90, false, [](const OneGpu& gpu) { return activity_text(gpu.sample); },
           [](const OneGpu&) { return Style::bold; }},
    Column{"history", 8, 60, 55, false, nullptr, [](const OneGpu&) { return Style::good; }},
    Column{"tens%", 5, 5, 45, false,
           [](const OneGpu& gpu) { return number_text(gpu[GpuMetric::tensor_active]); }},
    Column{"DRAM%", 5, 5, 44, false,
           [](const OneGpu& gpu) { return number_text(gpu[GpuMetric::dram_active]); }},
    Column{"mem GiB", 9, 9, 80, false, memory_text},
    Column{"power W", 7, 9, 70, false, power_text},
    Column{"C", 3, 3, 60, false,
           [](const OneGpu& gpu) { return number_text(gpu[GpuMetric::temperature]); }},
    Column{"MHz", 4, 4, 40, false,
           [](const OneGpu& gpu) { return number_text(gpu[GpuMetric::sm_clock]); }},
    Column{"of max", 6, 6, 25, false,
           [](const OneGpu& gpu) { return number_text(gpu[GpuMetric::sm_clock_most]); }},
    Column{"held by", 7, 24, 50, true,
           [](const OneGpu& gpu) { return limits_text(gpu[GpuMetric::clock_limits]); },
           [](const OneGpu& gpu) { return limit_style(gpu[GpuMetric::clock_limits]); }},
    Column{"PCIe out/in", 11, 11, 30, false,
           [](const OneGpu& gpu) {
             return of_two(short_traffic(gpu[GpuMetric::pcie_sent]),
                           short_traffic(gpu[GpuMetric::pcie_received]));
           }},
    Column{"NVLink out/in", 13, 13, 28, false,
           [](const OneGpu& gpu) {
             return of_two(short_traffic(gpu[GpuMetric::nvlink_sent]),
                           short_traffic(gpu[GpuMetric::nvlink_received]));
           }},
    Column{"name", 12, 28, 20, true, [](const OneGpu& gpu) { return gpu.info.name; }},
};
using Widths = std::array<int, shown_columns.size()>;  // 0 = left out

void widen(int& width, int most, int& left) {
  if (width == 0) return;
  const int more = std::clamp(most - width, 0, left);
  width += more;
  left -= more;
}

constexpr std::size_t at(std::string_view head) {
  std::size_t i = 0;
  while (shown_columns[i].head != head) ++i;
  return i;
}

// Adds columns of at least `least_weight` for which there is space. Columns with the highest weight
// come first.
void add_columns(Widths& widths, int& left, int least_weight) {
  std::array<std::size_t, shown_columns.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [](std::size_t a, std::size_t b) {
    return shown_columns[a].weight > shown_columns[b].weight;
  });
  for (const std::size_t i : order) {
    const Column& column = shown_columns[i];
    if (widths[i] > 0 || column.weight < least_weight || column.least + 1 > left) continue;
    widths[i] = column.least;
    left -= column.least + 1;
  }
}

// The widths of columns do not depend on the values, so that the layout does not jump.
Widths choose_columns(int width) {
  constexpr int usual_limit_cells = 12;  // such as "power, heat"
  constexpr int usual_history_cells = 16;
  Widths widths{};
  int left = width + 1;  // a space precedes each column but the first
  add_columns(widths, left, weight_at_80);
  widen(widths[at("held by")], usual_limit_cells, left);
  widen(widths[at("history")], usual_history_cells, left);
  add_columns(widths, left, 0);
  for (const char* head : {"history", "held by", "name"})
    widen(widths[at(head)], shown_columns[at(head)].most, left);
  return widths;
}

std::string history_text(const History& history, const MonitorSample& sample, std::size_t gpu,
                         int cells, bool utf8) {
  std::vector<float> values(static_cast<std::size_t>(cells),
                            std::numeric_limits<float>::quiet_NaN());
  std::size_t age = 0;
  while (age < history.size() && history.number(age) > sample.number) ++age;
  const GpuMetric metric = activity_of(sample.gpus[gpu]);
  for (auto value = values.rbegin(); value != values.rend() && age < history.size(); ++value)
    *value = history.value(gpu, metric, age++);
  return sparkline(values, utf8);
}

}  // namespace

GpuMetric activity_of(const GpuSample& gpu) {
  return gpu[GpuMetric::sm_active].state == ReadingState::unsupported ? GpuMetric::gpu_busy
                                                                      : GpuMetric::sm_active;
}

std::string activity_text(const GpuSample& gpu) {
  const GpuMetric metric = activity_of(gpu);
  if (gpu[metric].state == ReadingState::unsupported) return "n/a";
  return number_text(gpu[metric]) + (metric == GpuMetric::sm_active ? " SM" : " busy");
}

std::vector<Line> device_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                               const History& history, int width, bool utf8) {
  const Widths widths = choose_columns(width);
  const char* const mark = utf8 ? "…" : "~";
  std::vector<Line> lines(1 + gpus.size());
  const auto put = [&](std::size_t row, std::size_t column, const std::string& text, Style style) {
    if (!lines[row].empty()) lines[row].push_back({" ", row == 0 ? Style::head : Style::plain});
    lines[row].push_back({shown_columns[column].left ? fill_cells(text, widths[column], mark)
                                                     : fill_cells_left(text, widths[column], mark),
                          style});
  };
  for (std::size_t c = 0; c < shown_columns.size(); ++c) {
    if (widths[c] == 0) continue;
    put(0, c, shown_columns[c].head, Style::head);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const OneGpu gpu{gpus[i], sample.gpus[i]};
      if (!gpu.sample.fault.empty() && c > 0) continue;
      const std::string text = shown_columns[c].text
                                   ? clean_cells(shown_columns[c].text(gpu))
                                   : history_text(history, sample, i, widths[c], utf8);
      const bool missing = text == "n/a" || text == "-" || text == "- SM" || text == "- busy";
      put(i + 1, c, text, missing ? Style::dim : shown_columns[c].style(gpu));
    }
  }
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (!sample.gpus[i].fault.empty())
      lines[i + 1].push_back({" " + cut_cells(clean_cells(sample.gpus[i].fault),
                                              width - shown_columns[0].least - 1, mark),
                              Style::bad});
  return lines;
}

}  // namespace lockstep
