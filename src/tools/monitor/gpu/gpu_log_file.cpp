#include "tools/monitor/gpu/gpu_log_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

struct LoggedMetric {
  GpuMetric metric;
  const char* name;
  int digits;
};

constexpr std::array logged{LoggedMetric{GpuMetric::gpu_busy, "busy_percent", 0},
                            LoggedMetric{GpuMetric::sm_active, "sm_active_percent", 1},
                            LoggedMetric{GpuMetric::memory_busy, "memory_busy_percent", 0},
                            LoggedMetric{GpuMetric::dram_active, "dram_active_percent", 1},
                            LoggedMetric{GpuMetric::memory_used, "memory_used_bytes", 0},
                            LoggedMetric{GpuMetric::memory_total, "memory_total_bytes", 0},
                            LoggedMetric{GpuMetric::power, "power_w", 1},
                            LoggedMetric{GpuMetric::power_limit, "power_limit_w", 1},
                            LoggedMetric{GpuMetric::temperature, "temperature_c", 0},
                            LoggedMetric{GpuMetric::sm_clock, "sm_clock_mhz", 0},
                            LoggedMetric{GpuMetric::memory_clock, "memory_clock_mhz", 0}};

std::string cell(const Reading& reading, int digits) {
  return reading.state == ReadingState::measured ? fixed(reading.value, digits) : "";
}

// "none" if nothing limits the clocks. An empty cell means unknown.
std::string throttling(const Reading& reading) {
  if (reading.state != ReadingState::measured) return "";
  std::string words = clock_limit_words(static_cast<unsigned long long>(reading.value));
  std::replace(words.begin(), words.end(), ',', ';');
  return words.empty() ? "none" : words;
}

// The number of other programs' processes, and the memory that they hold.
std::string others(const GpuSample& gpu, const IsOwnProcess& is_own) {
  constexpr const char* unknown = ",";
  if (!gpu.processes_known) return unknown;
  int count = 0;
  std::optional<std::uint64_t> bytes = 0;
  for (const GpuProcess& process : gpu.processes) {
    const std::optional<bool> own = is_own(process.pid);
    if (!own) return unknown;
    if (*own) continue;
    ++count;
    bytes = bytes && process.memory_bytes ? std::optional(*bytes + *process.memory_bytes)
                                          : std::nullopt;
  }
  return cat(count, ",", bytes ? cat(*bytes) : "");
}

std::string_view first_cell(std::string_view line) { return line.substr(0, line.find(',')); }

}  // namespace

std::string gpu_log_head() {
  std::string head = "time,gpu,uuid";
  for (const LoggedMetric& column : logged) head += cat(",", column.name);
  return head + ",throttled_by,other_processes,other_memory_bytes";
}

std::string gpu_log_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                          const IsOwnProcess& is_own) {
  std::string text;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuSample& gpu = sample.gpus.at(i);
    text += cat(fixed(sample.wall_s, 3), ",", gpus[i].index, ",", gpus[i].uuid);
    for (const LoggedMetric& column : logged) text += "," + cell(gpu[column.metric], column.digits);
    text += cat(",", throttling(gpu[GpuMetric::clock_limits]), ",", others(gpu, is_own), "\n");
  }
  return text;
}

namespace {

// How many samples an earlier start took for each sample that it wrote. The smallest of the last
// distances is used, because a restart leaves a larger gap.
long long spacing_of(std::string_view text, double every_s) {
  constexpr std::size_t enough = 16;
  std::vector<double> times;
  text = text.substr(0, text.rfind('\n'));
  while (times.size() < enough && text.find('\n') != text.npos) {
    const std::size_t newline = text.rfind('\n');
    const double time =
        std::strtod(std::string(first_cell(text.substr(newline + 1))).c_str(), nullptr);
    if (times.empty() || time != times.back()) times.push_back(time);
    text = text.substr(0, newline);
  }
  double least_s = every_s;
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double apart_s = times[i] - times[i + 1];
    least_s = i == 0 ? apart_s : std::min(least_s, apart_s);
  }
  long long every = 1;
  while (static_cast<double>(every) * 1.5 * every_s < least_s) every *= 2;
  return every;
}

}  // namespace

GpuLogFile::GpuLogFile(std::filesystem::path path, double every_s, std::uint64_t limit_bytes)
    : path_(std::move(path)), limit_bytes_(limit_bytes), file_(open_lines(path_)) {
  struct stat info {};
  if (::fstat(file_.get(), &info) == 0) bytes_ = static_cast<std::uint64_t>(info.st_size);
  if (bytes_ == 0) {
    if (!append_line(file_.get(), gpu_log_head()))
      throw Error(cat("cannot write ", path_.string(), ": ", errno_text(errno)));
    bytes_ = gpu_log_head().size() + 1;
    return;
  }
  const std::string text = read_all();
  if (text.substr(0, text.find('\n')) != gpu_log_head())
    throw Error(cat(path_.string(), " has other columns than this Lockstep writes"),
                "move it away, and it is begun anew");
  every_ = spacing_of(text, every_s);
}

// The file exceeds its limit by one sample at most.
std::string GpuLogFile::read_all() const { return read_file(path_, limit_bytes_ + record_bytes); }

bool GpuLogFile::append(const std::string& lines) {
  if (lines.empty() || wait_-- > 0) return true;
  if (bytes_ + lines.size() > limit_bytes_ && thin_out() % 2 != 0) {
    wait_ = every_ / 2 - 1;  // thinning out would remove this sample too
    return true;
  }
  wait_ = every_ - 1;
  if (!append_line(file_.get(), std::string_view(lines).substr(0, lines.size() - 1))) return false;
  bytes_ += lines.size();
  return true;
}

long long GpuLogFile::thin_out() {
  std::string kept = gpu_log_head() + "\n";
  const std::string text = read_all();
  std::string_view rest = text, time;
  rest.remove_prefix(std::min(rest.size(), kept.size()));
  long long sample = -1;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    if (line.empty()) break;  // the last line is incomplete
    rest.remove_prefix(line.size());
    if (first_cell(line) != time) ++sample;
    time = first_cell(line);
    if (sample % 2 == 0) kept += line;
  }
  write_file_atomic(path_, kept);
  file_ = open_lines(path_);
  bytes_ = kept.size();
  every_ *= 2;
  return sample + 1;
}

}  // namespace lockstep
