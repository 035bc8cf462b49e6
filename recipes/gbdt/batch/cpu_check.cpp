#include "recipes/gbdt/batch/cpu_check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_probe.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {
namespace {

constexpr int most_rows = 100'000;
constexpr int windows_per_gpu = 4;  // as `lockstep batch gbdt` places them

struct GpuWindow {
  const WindowRecord* record;
  double seconds;
};

std::string device_of(const nlohmann::json& metadata) {
  return metadata.at("library").value("device", "cpu");
}

// Windows that a GPU trained, with few enough rows for the CPU to be worth a try. Sorted by
// seconds.
std::vector<GpuWindow> gpu_windows(const BatchRecords& records, std::set<std::string>& gpus) {
  std::vector<GpuWindow> found;
  for (const WindowRecord& window : records.windows) {
    if (window.status != "success" || device_of(window.metadata) == "cpu") continue;
    gpus.insert(window.metadata.at("library").value("gpu", ""));
    if (window.metadata.at("sample_counts").at("train").get<int>() <= most_rows)
      found.push_back({&window, window.metadata.at("seconds").get<double>()});
  }
  std::sort(found.begin(), found.end(),
            [](const GpuWindow& a, const GpuWindow& b) { return a.seconds < b.seconds; });
  return found;
}

double seconds_on_cpu(const WindowRecord& window) {
  GbdtOptions options;
  set_recorded(window, options);
  options.gbdt.device = TrainDevice::cpu;
  options.gbdt.library.clear();
  options.gbdt.threads = 1;
  const TemporaryDirectory folder;
  const LightGbm library(find_lightgbm(""));
  const WindowTask task{.symbol = window.symbol,
                        .window = window_of(window),
                        .load = [&] { return load_symbol(options, window.symbol); },
                        .folder = folder.path(),
                        .batch_id = "",
                        .run_id = "cpu"};
  return train_window(options, library, task, [](const std::string&) {})
      .metadata.at("seconds")
      .get<double>();
}

std::string told(double value) { return fixed(value, value < 10 ? 2 : 0); }

}  // namespace

DeviceRates device_rates(double cpu_s, int cores, double gpu_s, int gpus) {
  constexpr double minute_s = 60;
  return {.cpu_per_minute = minute_s * cores / cpu_s,
          .gpu_per_minute = minute_s * windows_per_gpu * gpus / gpu_s};
}

std::string compare_with_cpu(const BatchRecords& records) {
  try {
    std::set<std::string> gpus;
    const std::vector<GpuWindow> windows = gpu_windows(records, gpus);
    if (windows.empty()) return "";
    const auto& [record, gpu_s] = windows[windows.size() / 2];
    const double cpu_s = seconds_on_cpu(*record);
    const int cores = host_info().cores, devices = static_cast<int>(gpus.size());
    const DeviceRates rates = device_rates(cpu_s, cores, gpu_s, devices);
    const bool cpu_wins = rates.cpu_per_minute > rates.gpu_per_minute;
    return cat(cpu_wins ? "the CPU is faster for such windows" : "the CPU is not faster here", ": ",
               record->label, " took ", told(gpu_s), " s by ",
               device_of(record->metadata) == "gpu" ? "OpenCL" : "CUDA", ", and takes ",
               told(cpu_s), " s on one core; ", cores,
               cores == 1 ? " core trains " : " cores train ", told(rates.cpu_per_minute),
               " a minute, ", devices, devices == 1 ? " GPU " : " GPUs ",
               told(rates.gpu_per_minute), cpu_wins ? " (gbdt.device=cpu)\n" : "\n");
  } catch (const std::exception&) {
    return "";  // for example, the prices are gone, or the library has another type
  }
}

}  // namespace lockstep::gbdt
