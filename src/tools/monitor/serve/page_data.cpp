#include "tools/monitor/serve/page_data.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

struct Charted {
  GpuMetric metric;
  double scale;
  int decimals;  // below 0 = three significant digits
};

constexpr std::array<Charted, 11> all_charted{{
    {GpuMetric::sm_active, 1, 1},
    {GpuMetric::tensor_active, 1, 1},
    {GpuMetric::dram_active, 1, 1},
    {GpuMetric::gpu_busy, 1, 0},
    {GpuMetric::memory_used, bytes_per_mib, 0},
    {GpuMetric::power, 1, 0},
    {GpuMetric::temperature, 1, 0},
    {GpuMetric::pcie_sent, 1, -1},
    {GpuMetric::pcie_received, 1, -1},
    {GpuMetric::nvlink_sent, 1, -1},
    {GpuMetric::nvlink_received, 1, -1},
}};

void append(std::string& out, double value, int decimals) {
  std::array<char, 40> text{};
  char* const end = text.data() + text.size();
  if (decimals > 0) value = std::round(value * 10) / 10;
  if (decimals == 0) value = std::round(value);
  const auto done = decimals < 0
                        ? std::to_chars(text.data(), end, value, std::chars_format::general, 3)
                        : std::to_chars(text.data(), end, value);
  out.append(text.data(), done.ptr);
}

// A column of the history, the oldest value first. Its ages are count-1 … 0.
std::string column(const History& history, std::size_t gpu, const Charted& charted,
                   std::size_t count) {
  std::string text = "[";
  bool measured = false;
  for (std::size_t age = count; age-- > 0;) {
    const float value = history.value(gpu, charted.metric, age);
    if (text.size() > 1) text += ',';
    if (std::isfinite(value)) {
      measured = true;
      append(text, static_cast<double>(value) / charted.scale, charted.decimals);
    } else {
      text += "null";
    }
  }
  return measured ? text + "]" : "null";
}

std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string history_json(const std::vector<GpuInfo>& gpus, const History& history, long long after,
                         const PageStatus& status) {
  std::size_t count = 0;
  while (count < history.size() && history.number(count) > after) ++count;
  nlohmann::json devices = nlohmann::json::array(), metrics = nlohmann::json::object();
  for (const GpuInfo& gpu : gpus)
    devices.push_back({{"gpu", gpu.index}, {"uuid", gpu.uuid}, {"name", gpu.name}});
  for (const Charted& charted : all_charted) {
    const MetricInfo& metric = info(charted.metric);
    metrics[metric.name] = {
        {"unit", metric.unit}, {"meaning", metric.meaning}, {"scale", charted.scale}};
  }
  nlohmann::json head{{"start", status.start_s},
                      {"interval_s", status.interval_s},
                      {"age_s", status.age_s < 0 ? nlohmann::json() : nlohmann::json(status.age_s)},
                      {"hanging_s", status.hanging_s},
                      {"newest", history.size() > 0 ? history.number(0) : 0},
                      {"gpus", std::move(devices)},
                      {"metrics", std::move(metrics)}};
  std::string text = dumped(head);
  // the columns are formatted without the JSON library, because there may be 300,000 values
  text.back() = ',';
  text += "\"time\":[";
  for (std::size_t age = count; age-- > 0;)
    text += cat(fixed(history.wall_s(age), 2), age > 0 ? "," : "");
  text += "],\"values\":{";
  for (const Charted& charted : all_charted) {
    if (text.back() != '{') text += ',';
    text += cat("\"", info(charted.metric).name, "\":[");
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      if (gpu > 0) text += ',';
      text += column(history, gpu, charted, count);
    }
    text += ']';
  }
  return text + "}}";
}

}  // namespace lockstep
