// Reads a run's gpu.csv as curves and sums for each GPU, in one pass and in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/pages/curve.h"

namespace lockstep {

struct GpuCurves {
  std::string uuid, index;  // texts as they are in the file
  std::int64_t samples = 0;
  // curves over time, which counts only the seconds that samples cover
  Curve busy, sm, memory_bytes, power, temperature, sm_clock;
  double memory_total_bytes = 0, power_limit_w = 0;  // 0 if unknown
  // energy in the time that samples cover
  std::optional<double> energy_j;
  double covered_s = 0;  // the time that samples cover
  double throttling_known_s = 0;
  std::map<std::string, double> throttled_s;  // seconds of throttling, by reason
  std::int64_t most_other_processes = 0;
};

struct GpuSeries {
  std::vector<GpuCurves> gpus;
  double begin = 0, end = 0;  // unix seconds; 0 if there is no sample
  std::int64_t bad_lines = 0;
  std::string problem;  // why nothing could be read; empty otherwise
};

// Never throws. A missing file gives no GPUs. If the file is not a gpu.csv or cannot be read,
// `problem` says so.
GpuSeries read_gpu_series(const std::filesystem::path& file, std::size_t columns = 1024);

}  // namespace lockstep
