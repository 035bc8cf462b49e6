#include "core/devices/nvml/nvml_processes.h"

#include <algorithm>
#include <cstring>

namespace lockstep {
namespace {

// No row ends with this byte. Each row ends with the high bytes of a number that is small or ~0.
constexpr unsigned char untouched = 0xA5;
constexpr std::size_t least_row = 16;      // each row begins with pid and memory
constexpr unsigned highest_pid = 1 << 22;  // the limit of Linux

bool may_be(const std::vector<nvml::ProcessInfo>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const nvml::ProcessInfo& row) {
    return row.pid > 0 && row.pid <= highest_pid;
  });
}

}  // namespace

ProcessRows::ProcessRows(std::size_t rows) : bytes_(rows * room, untouched) {}

std::optional<std::vector<nvml::ProcessInfo>> ProcessRows::read_by(std::size_t size,
                                                                   std::size_t count) const {
  if (size < least_row || size > room || size % alignof(unsigned long long) != 0)
    return std::nullopt;
  std::vector<nvml::ProcessInfo> rows(count);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(&rows[i], bytes_.data() + i * size, sizeof rows[i]);
  // For a single row, the row size does not matter.
  return count == 1 || may_be(rows) ? std::optional(std::move(rows)) : std::nullopt;
}

std::optional<std::vector<nvml::ProcessInfo>> ProcessRows::read(std::size_t count,
                                                                std::size_t documented) const {
  count = std::min(count, rows());
  if (count == 0) return std::vector<nvml::ProcessInfo>();
  const auto last = std::find_if(bytes_.rbegin(), bytes_.rend(),
                                 [](unsigned char byte) { return byte != untouched; });
  const auto written = static_cast<std::size_t>(bytes_.rend() - last);
  if (written % count == 0)
    if (auto found = read_by(written / count, count)) return found;
  return read_by(documented, count);
}

std::optional<std::vector<nvml::ProcessInfo>> running_processes(nvml::ListProcesses function,
                                                                nvml::Device device,
                                                                std::size_t documented,
                                                                std::size_t& size) {
  constexpr std::size_t more = 8;  // room for processes that start between two calls
  ProcessRows rows(size);
  auto count = static_cast<unsigned>(size);
  nvml::Return result = nvml::ask(function, device, &count, size == 0 ? nullptr : rows.data());
  for (int attempt = 0; result == nvml::insufficient_size && attempt < 3; ++attempt) {
    rows = ProcessRows(count + more);
    count = static_cast<unsigned>(rows.rows());
    result = function(device, &count, rows.data());
  }
  if (result != nvml::success) return std::nullopt;
  size = count;
  return rows.read(count, documented);
}

}  // namespace lockstep
