#include "tools/doctor/work.h"

#include <algorithm>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep::rules {
namespace {

// Whether the process is a data loader. PyTorch names its loaders. Others are forks of the program
// or started by multiprocessing. Processes that compile, log or track are not loaders.
bool is_loader(const Scene& scene, const Program& program, int pid) {
  const ProcessView& process = scene.processes.at(pid);
  const std::string& command = process.now->command;
  if (!process.memory.empty() || pid == program.root || !process.watched) return false;
  for (const char* other : {"compile_worker", "resource_tracker", "wandb", "tensorboard"})
    if (command.find(other) != command.npos) return false;
  if (!process.busiest.empty() && process.busiest.front().name == "pt_data_worker") return true;
  const auto parent = scene.processes.find(process.now->parent);
  return command.find("spawn_main") != command.npos ||
         (parent != scene.processes.end() && parent->second.now->command == command);
}

// The nearest ancestor that uses a GPU, or 0.
int user_above(const Scene& scene, const Program& program, int pid) {
  std::set<int> seen;  // pids are reused, so ancestors may form a ring
  auto at = scene.processes.find(pid);
  while (at != scene.processes.end() && seen.insert(at->first).second) {
    if (std::find(program.users.begin(), program.users.end(), at->first) != program.users.end())
      return at->first;
    at = scene.processes.find(at->second.now->parent);
  }
  return 0;
}

}  // namespace

ThreadLine busiest_thread(const Scene& scene, int pid) {
  const ProcessView& process = scene.processes.at(pid);
  if (process.busiest.empty()) return {};
  const ThreadLoad& thread = process.busiest.front();
  return {cat("/proc/", pid, "/task: ", thread.is_main ? "main thread \"" : "thread \"",
              thread.name, "\" ran ", fixed(100 * thread.cores, 0), " % of the time"),
          thread.cores};
}

Loaders loaders_of(const Scene& scene, const Program& program, int user) {
  Loaders loaders;
  for (const int pid : program.pids) {
    const ProcessView& process = scene.processes.at(pid);
    if (!is_loader(scene, program, pid)) continue;
    if (const int above = user_above(scene, program, pid); above != 0 && above != user) continue;
    loaders.pids.push_back(pid);
    loaders.cores += process.cores;
    loaders.read_bytes_per_s += process.read_bytes_per_s;
    if (process.cores + process.io_share >= 0.85) ++loaders.full;
  }
  return loaders;
}

int world_size(const Scene& scene, int pid) {
  return whole_number<int>(scene.processes.at(pid).variable("WORLD_SIZE").value_or("")).value_or(0);
}

bool launches_little(const GpuView& gpu) {
  // share of the busy time; on an H200, matrices of 2048 reach 0.7, and rows of 32 reach 0.0
  constexpr double filled = 0.3;
  const double busy = gpu[GpuMetric::gpu_busy].mean();
  return gpu.has_sm() ? gpu[GpuMetric::sm_active].mean() >= filled * busy : busy < 5;
}

bool one_at_a_time(const ProcessView& process) {
  const double most = process.busiest.empty() ? 0 : process.busiest.front().cores;
  return most >= one_core || (process.cores >= one_core && process.cores < 1.5);
}

bool is_enough(const Load& load) {
  constexpr std::size_t least = 5;
  return load.values.size() >= least;
}

bool is_sawtooth(const Load& load) {
  return is_enough(load) && load.most() >= 3 * working_percent && load.least() < working_percent &&
         load.share(0, working_percent) >= 0.2;
}

}  // namespace lockstep::rules
