#include "trainer/link_speed.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/files.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {
namespace {

nlohmann::json read_cache(const std::filesystem::path& file) {
  try {
    nlohmann::json cache = nlohmann::json::parse(read_file(file));
    if (cache.is_object()) return cache;
  } catch (const std::exception&) {
  }
  return nlohmann::json::object();
}

nlohmann::json to_json(const LinkSpeed& speed) {
  return {{"latency_s", speed.latency_s}, {"bytes_per_s", speed.bytes_per_s}};
}

std::optional<LinkSpeed> read_speed(const nlohmann::json& value) {
  if (!value.is_object()) return std::nullopt;
  const auto latency = value.find("latency_s"), speed = value.find("bytes_per_s");
  if (latency == value.end() || !latency->is_number() || speed == value.end() ||
      !speed->is_number())
    return std::nullopt;
  const LinkSpeed link{.latency_s = *latency, .bytes_per_s = *speed};
  if (!(link.latency_s >= 0 && link.bytes_per_s > 0)) return std::nullopt;
  return link;
}

double median_seconds(ProcessGroup& group, Backend& backend, std::int64_t bytes) {
  constexpr int repeats = 7;
  std::vector<double> seconds = probe_all_reduce(group, backend, bytes, repeats);
  std::sort(seconds.begin(), seconds.end());
  return std::max(seconds[repeats / 2], 1e-9);
}

LinkSpeed measure(ProcessGroup& group, Backend& backend) {
  constexpr std::int64_t small_bytes = 64 << 10, large_bytes = 64 << 20;
  const double small_s = median_seconds(group, backend, small_bytes),
               large_s = median_seconds(group, backend, large_bytes);
  return fit_link_speed(small_bytes, small_s, large_bytes, large_s);
}

}  // namespace

std::vector<double> probe_all_reduce(ProcessGroup& group, Backend& backend, std::int64_t bytes,
                                     int repeats) {
  constexpr int warm_up = 2;  // buffers and connections of this size
  if (group.size() == 1) return {};
  const at::NoGradGuard no_grad;
  const std::int64_t count = std::max<std::int64_t>(1, bytes / 4);
  const at::Tensor buffer =
      at::zeros({count}, at::TensorOptions().dtype(at::kFloat).device(backend.device()));
  std::vector<double> seconds;
  for (int i = 0; i < warm_up + repeats; ++i) {
    group.barrier();
    backend.synchronize();
    const double begin_s = system_clock().now_s();
    group.all_reduce(buffer)->wait();
    backend.synchronize();
    if (i >= warm_up) seconds.push_back(system_clock().now_s() - begin_s);
  }
  return seconds;
}

KnownLink link_speed(ProcessGroup& group, Backend& backend, const std::filesystem::path& cache_file,
                     const std::string& key) {
  LOCKSTEP_CHECK(group.size() > 1);
  std::string known;
  if (group.rank() == 0)
    if (const auto link = read_speed(read_cache(cache_file).value(key, nlohmann::json())))
      known = to_json(*link).dump();
  known = group.share("link remembered", known);
  const bool remembered = !known.empty();
  if (!remembered) {
    const nlohmann::json measured = to_json(measure(group, backend));
    known = group.share("link measured", measured.dump());
    if (group.rank() == 0) {
      try {
        nlohmann::json cache = read_cache(cache_file);
        cache[key] = measured;
        make_directories(cache_file.parent_path());
        write_file_atomic(cache_file, cache.dump(1));
      } catch (const std::exception&) {  // measured again next time
      }
    }
  }
  const auto speed = read_speed(nlohmann::json::parse(known));
  LOCKSTEP_CHECK(speed.has_value());
  return {.speed = *speed, .remembered = remembered};
}

}  // namespace lockstep
