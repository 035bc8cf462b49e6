#include "training/trainer/output/link_speed.h"

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_cache.h"
#include "runtime/run/events/json_lines.h"
#include "training/trainer/trainer.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {
namespace {

nlohmann::json to_json(const LinkSpeed& speed) {
  return {{"latency_s", speed.latency_s}, {"bytes_per_s", speed.bytes_per_s}};
}

std::optional<LinkSpeed> read_speed(const nlohmann::json& value) {
  const LinkSpeed link{.latency_s = number_or(value, "latency_s", NAN),
                       .bytes_per_s = number_or(value, "bytes_per_s", NAN)};
  if (!(link.latency_s >= 0 && link.bytes_per_s > 0)) return std::nullopt;
  return link;
}

std::optional<LinkSpeed> remembered_speed(const std::filesystem::path& file,
                                          const std::string& key) {
  try {
    return read_speed(read_json_cache(file).value(key, nlohmann::json()));
  } catch (const std::exception&) {
    return std::nullopt;
  }
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
  constexpr int warm_up = 2;  // runs that allocate buffers and connect for this size
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
    if (const auto link = remembered_speed(cache_file, key)) known = to_json(*link).dump();
  known = group.share("link remembered", known);
  const bool remembered = !known.empty();
  if (!remembered) {
    const nlohmann::json measured = to_json(measure(group, backend));
    known = group.share("link measured", measured.dump());
    if (group.rank() == 0) {
      try {
        remember_in_cache(cache_file, key, measured);
      } catch (const std::exception&) {  // it is measured again next time
      }
    }
  }
  const auto speed = read_speed(nlohmann::json::parse(known));
  LOCKSTEP_CHECK(speed.has_value());
  return {.speed = *speed, .remembered = remembered};
}

std::optional<KnownLink> measured_link(const TrainerSetup& setup) {
  const TrainOptions& options = setup.options;
  if (setup.group.size() == 1 || setup.backend.device().is_cpu()) return std::nullopt;
  if (options.reduce_bucket_mb > 0 || options.deterministic || options.exact) return std::nullopt;
  std::string key = cat(setup.backend.description(), " on");
  for (const Device& device : setup.plan.devices) key += cat(" ", device.uuid);
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::string_view(*variable).starts_with("NCCL_")) key += cat(" ", *variable);
  return link_speed(setup.group, setup.backend,
                    setup.run.path().parent_path() / ".cache" / "links.json", key);
}

}  // namespace lockstep
