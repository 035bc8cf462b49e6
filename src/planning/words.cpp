// The words for ranks, devices and counts in plans and their errors.
#include "planning/words.h"

#include "core/base/text/text.h"

#include <algorithm>

namespace lockstep {

std::string count_of(std::int64_t count, const std::string& noun) {
  return cat(count, " ", noun, count == 1 ? "" : "s");
}

std::string row_word(std::int64_t rows_per_sample) {
  return rows_per_sample > 1 ? "row" : "sample";
}

std::string rank_word(const std::vector<Device>& devices) {
  const auto gpus = std::count_if(devices.begin(), devices.end(), [](const Device& device) {
    return device.kind == DeviceKind::cuda;
  });
  if (gpus == static_cast<std::ptrdiff_t>(devices.size())) return "GPU";
  return gpus == 0 ? "CPU rank" : "rank";
}

std::string device_label(const Device& device) {
  return cat(device.kind == DeviceKind::cuda ? "cuda:" : "cpu:", device.index);
}

std::string rate_text(double rate) { return general(rate, 4); }

}  // namespace lockstep
