// Cores and memory that this process may use, by affinity mask, cgroup quotas and limits.
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/first_line.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::optional<double> number(const std::string& text) {
  std::istringstream in(text);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

// `path` and its ancestors below a cgroup mount, with the mount itself last. In a container, `path`
// may be a path of the host that does not exist here. The limits of its ancestors still apply.
std::vector<fs::path> with_ancestors(const fs::path& mount, fs::path path) {
  std::vector<fs::path> folders;
  for (path = path.relative_path(); !path.empty(); path = path.parent_path()) {
    folders.push_back(mount / path);
  }
  folders.push_back(mount);
  return folders;
}

struct Limits {
  std::optional<double> cores;
  std::optional<double> memory_bytes;
};

void lower(std::optional<double>& limit, std::optional<double> value) {
  if (value && *value > 0) limit = limit ? std::min(*limit, *value) : *value;
}

void read_v2(const fs::path& folder, Limits& limits) {
  std::istringstream quota_and_period(first_line(folder / "cpu.max"));
  std::string quota, period;
  quota_and_period >> quota >> period;
  const auto q = number(quota), p = number(period);
  if (q && p && *p > 0) lower(limits.cores, *q / *p);
  lower(limits.memory_bytes, number(first_line(folder / "memory.max")));
}

void read_v1_cpu(const fs::path& folder, Limits& limits) {
  const auto quota = number(first_line(folder / "cpu.cfs_quota_us"));
  const auto period = number(first_line(folder / "cpu.cfs_period_us"));
  if (quota && period && *period > 0) lower(limits.cores, *quota / *period);
}

// Lines of /proc/self/cgroup are "ID:CONTROLLERS:PATH". Version 2 has ID 0 and no controllers.
Limits cgroup_limits(const fs::path& root) {
  Limits limits;
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      for (const fs::path& mount : {mounts, mounts / "unified"}) {
        for (const fs::path& folder : with_ancestors(mount, path)) read_v2(folder, limits);
      }
      continue;
    }
    for (const std::string& controller : split(controllers, ',')) {
      for (const fs::path& mount : {mounts / controllers, mounts / controller}) {
        for (const fs::path& folder : with_ancestors(mount, path)) {
          if (controller == "cpu") read_v1_cpu(folder, limits);
          if (controller == "memory") {
            lower(limits.memory_bytes, number(first_line(folder / "memory.limit_in_bytes")));
          }
        }
      }
    }
  }
  return limits;
}

std::uint64_t physical_memory_bytes(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    if (in >> key >> kib && key == "MemTotal:") return kib * 1024;
  }
  return 0;
}

int affinity_cores() {
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t* set = CPU_ALLOC(most);
    if (!set) break;
    const std::size_t size = CPU_ALLOC_SIZE(most);
    const bool done = sched_getaffinity(0, size, set) == 0;
    const int count = done ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (done) return count;
  }
  return 1;
}

}  // namespace

HostInfo host_info_under(const fs::path& root, int affinity_cores) {
  const Limits limits = cgroup_limits(root);
  HostInfo host{.cores = affinity_cores, .memory_bytes = physical_memory_bytes(root)};
  if (limits.cores && *limits.cores < host.cores) host.cores = static_cast<int>(*limits.cores);
  host.cores = std::max(1, host.cores);
  // Version 1 writes a number near 2^63 for "no limit".
  if (limits.memory_bytes && *limits.memory_bytes < 9e18) {
    const auto limit = static_cast<std::uint64_t>(*limits.memory_bytes);
    host.memory_bytes = host.memory_bytes ? std::min(host.memory_bytes, limit) : limit;
  }
  return host;
}

HostInfo host_info() {
  HostInfo host = host_info_under("/", affinity_cores());
  // OMP_NUM_THREADS may list a number for each level of nested parallel regions. Only the first is
  // used.
  if (const char* const asked = std::getenv("OMP_NUM_THREADS"); asked != nullptr)
    host.rank_threads =
        whole_number<int>(trim(split(asked, ',').front()), 1, most_rank_threads).value_or(0);
  // A batch gives each job its total number of cores, which the job's ranks share.
  if (std::getenv("LOCKSTEP_JOB") != nullptr && host.rank_threads == host.cores)
    host.rank_threads = 0;
  return host;
}

}  // namespace lockstep
