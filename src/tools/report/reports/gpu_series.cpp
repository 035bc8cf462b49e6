#include "tools/report/reports/gpu_series.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/facts/gpu_energy.h"

namespace lockstep {
namespace {

constexpr std::size_t most_gpus = 256;

using GpuCells = std::vector<std::string_view>;

// Splits a line at commas. Cells of a gpu.csv contain neither commas nor quotes.
void cells_of_line(std::string_view line, GpuCells& cells) {
  cells.clear();
  for (std::size_t comma; (comma = line.find(',')) != line.npos; line.remove_prefix(comma + 1))
    cells.push_back(line.substr(0, comma));
  if (line.ends_with('\r')) line.remove_suffix(1);
  cells.push_back(line);
}

class GpuLogLines {
 public:
  explicit GpuLogLines(std::size_t columns) : columns_(columns) {}

  void line(const std::string& text) {
    cells_of_line(text, cells_);
    if (head_.empty()) {
      take_head();
      return;
    }
    if (has_no_head_) return;
    // Each cell is found by its name, so a line is parsed only if it has as many cells as there are
    // names.
    const double time = cells_.size() == head_.size() ? number("time") : NAN;
    if (!std::isfinite(time) || cell("uuid").empty()) {
      ++all_.bad_lines;
      return;
    }
    if (GpuCurves* const gpu = gpu_of_line()) sample(*gpu, time);
  }

  GpuSeries finish() { return std::move(all_); }

 private:
  void take_head() {
    for (const std::string_view name : cells_) head_.emplace_back(name);
    has_no_head_ = place("time") == head_.size() || place("uuid") == head_.size();
    if (has_no_head_) all_.problem = "its first line does not name the columns time and uuid";
  }
  std::size_t place(std::string_view name) const {
    return static_cast<std::size_t>(std::find(head_.begin(), head_.end(), name) - head_.begin());
  }
  std::string_view cell(std::string_view name) const {
    const std::size_t at = place(name);
    return at < cells_.size() ? cells_[at] : std::string_view();
  }
  double number(std::string_view name) const { return to_number(cell(name)).value_or(NAN); }

  GpuCurves* gpu_of_line() {
    const std::string_view uuid = cell("uuid");
    for (GpuCurves& gpu : all_.gpus)
      if (gpu.uuid == uuid) return &gpu;
    if (all_.gpus.size() >= most_gpus) return nullptr;
    GpuCurves& gpu = all_.gpus.emplace_back();
    gpu.uuid = uuid;
    gpu.index = cell("gpu");
    for (Curve* const curve :
         {&gpu.busy, &gpu.sm, &gpu.memory_bytes, &gpu.power, &gpu.temperature, &gpu.sm_clock})
      *curve = Curve(0, columns_);
    return &gpu;
  }

  void sample(GpuCurves& gpu, double time) {
    if (all_.begin == 0) all_.begin = time;
    all_.end = std::max(all_.end, time);
    Before& before = before_[gpu.uuid];
    const double seconds = before.gaps.next(time);
    if (const double power = number("power_w"); power >= 0) {
      before.energy.add(time, power);
      gpu.energy_j = before.energy.joules();
    }
    const CurvePlace at{static_cast<double>(gpu.samples), gpu.covered_s + seconds};
    const auto add = [&](Curve& curve, const char* name) {
      if (const double value = number(name); !std::isnan(value)) curve.add(at, value);
    };
    add(gpu.busy, "busy_percent");
    add(gpu.sm, "sm_active_percent");
    add(gpu.memory_bytes, "memory_used_bytes");
    add(gpu.power, "power_w");
    add(gpu.temperature, "temperature_c");
    add(gpu.sm_clock, "sm_clock_mhz");
    if (const double total = number("memory_total_bytes"); total > 0)
      gpu.memory_total_bytes = total;
    if (const double limit = number("power_limit_w"); limit > 0) gpu.power_limit_w = limit;
    if (const double others = number("other_processes"); others > 0)
      gpu.most_other_processes =
          std::max(gpu.most_other_processes, static_cast<std::int64_t>(std::min(others, 1e9)));
    add_time(gpu, seconds);
    ++gpu.samples;
  }

  // A sample represents the time since the previous one.
  void add_time(GpuCurves& gpu, double seconds) {
    if (!(seconds > 0)) return;
    gpu.covered_s += seconds;
    const std::string_view reasons = cell("throttled_by");
    if (reasons.empty()) return;
    gpu.throttling_known_s += seconds;
    if (reasons == "none") return;
    for (const std::string& reason : split(reasons, ';'))
      if (gpu.throttled_s.size() < 50 || gpu.throttled_s.contains(trim(reason)))
        gpu.throttled_s[trim(reason)] += seconds;
  }

  std::size_t columns_;
  GpuSeries all_;
  std::vector<std::string> head_;
  bool has_no_head_ = false;
  GpuCells cells_;
  struct Before {
    SampleGaps gaps;
    DeviceEnergy energy;
  };
  std::map<std::string, Before> before_;  // key: UUID
};

}  // namespace

GpuSeries read_gpu_series(const std::filesystem::path& file, std::size_t columns) try {
  GpuLogLines reader(columns);
  for_each_line(file, [&](const std::string& line) { reader.line(line); });
  return reader.finish();
} catch (const Error& error) {
  GpuSeries none;
  none.problem = error.what();
  return none;
}

}  // namespace lockstep
