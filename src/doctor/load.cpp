// Rules on what processes make of their GPUs.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/whole_number.h"
#include "doctor/rules.h"

namespace lockstep::rules {
namespace {

constexpr double working_percent = 10;  // of SM activity: less is a GPU that mostly waits
constexpr double full_percent = 95;
constexpr double one_core = 0.9;  // a thread that runs nearly all the time

struct Line {
  std::string text;
  double cores = 0;
};

// The thread that works most, as a line of evidence.
Line busiest_thread(const Scene& scene, int pid) {
  const ProcessView& process = scene.processes.at(pid);
  if (process.busiest.empty()) return {};
  const ThreadLoad& thread = process.busiest.front();
  return {cat("/proc/", pid, "/task: thread \"", thread.name, "\" ran ",
              fixed(100 * thread.cores, 0), " % of the time"),
          thread.cores};
}

// Processes of the program that read its input.
struct Loaders {
  std::vector<int> pids;
  int full = 0;  // at a whole core, or waiting for disks
  double cores = 0, read_bytes_per_s = 0;
};

// PyTorch names its loaders; others are forks of the program or started by multiprocessing. What
// compiles, logs or tracks is neither.
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

// The nearest process above it that uses a GPU; 0: none does.
int user_above(const Scene& scene, const Program& program, int pid) {
  std::set<int> seen;  // numbers are used again: a ring is possible
  auto at = scene.processes.find(pid);
  while (at != scene.processes.end() && seen.insert(at->first).second) {
    if (std::find(program.users.begin(), program.users.end(), at->first) != program.users.end())
      return at->first;
    at = scene.processes.find(at->second.now->parent);
  }
  return 0;
}

// Those that a process started, and those that belong to nobody in particular.
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

// The ranks of a program, by its own word.
int world_size(const Scene& scene, int pid) {
  return whole_number<int>(scene.processes.at(pid).variable("WORLD_SIZE").value_or("")).value_or(0);
}

// Seen over enough samples to speak of a shape.
bool is_enough(const Load& load) { return load.values.size() >= 5; }

// Work alternates with waiting: some samples high, some next to none.
bool is_sawtooth(const Load& load) {
  return is_enough(load) && load.most() >= 3 * working_percent && load.least() < working_percent &&
         load.share(0, working_percent) >= 0.2;
}

}  // namespace

Findings starving(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    for (const int pid : program.users) {
      const ProcessView& process = scene.processes.at(pid);
      if (!process.watched) continue;
      const Loaders loaders = loaders_of(scene, program, pid);
      const Line thread = busiest_thread(scene, pid);
      for (const auto& [position, bytes] : process.memory) {
        const GpuView& gpu = scene.gpus.at(position);
        const Load& activity = gpu.activity();
        if (!is_enough(activity) || scene.is_shared(position, program)) continue;
        const bool waits = activity.mean() < 50 && activity.most() >= 2;
        const bool is_low = activity.mean() < 2 * working_percent;
        // Who is it that the GPU waits for?
        const bool by_loaders =
            loaders.full > 0 && 2 * loaders.full >= static_cast<int>(loaders.pids.size());
        const bool by_disk = process.io_share >= 0.2;
        const bool by_sleep = !by_loaders && !by_disk && thread.cores < 0.3;
        const bool by_itself =
            !by_loaders && !by_disk && is_sawtooth(activity) && thread.cores >= 0.3;
        // Samples that are longer than a step show neither bursts nor pauses.
        const bool shows = is_sawtooth(activity) || is_low || by_loaders || by_disk;
        if (!waits || !shows || !(by_loaders || by_disk || by_sleep || by_itself)) continue;
        Finding finding{
            .verdict = cat(scene.gpu_name(position), " waits for ",
                           by_disk ? "the disk: " : "its input: ", describe(scene, pid)),
            .confidence = by_loaders || by_disk ? Confidence::likely : Confidence::possible,
            .gpus = {gpu.index},
            .pids = {pid}};
        if (!gpu.has_sm()) finding.confidence = lowered(finding.confidence);
        finding.evidence = {load_line(scene, position)};
        if (is_sawtooth(activity))
          finding.evidence.push_back(
              cat("work comes in bursts: ", fixed(100 * activity.share(0, working_percent), 0),
                  " % of the samples below ", fixed(working_percent, 0), " %, the highest ",
                  fixed(activity.most(), 0), " %"));
        if (!thread.text.empty()) finding.evidence.push_back(thread.text);
        if (!loaders.pids.empty())
          finding.evidence.push_back(cat(loaders.pids.size(),
                                         loaders.pids.size() == 1 ? " process" : " processes",
                                         " beside it without a GPU: ", loaders.full,
                                         " at their limit, ", fixed(loaders.cores, 1), " cores, ",
                                         format_bytes(loaders.read_bytes_per_s), "/s read"));
        else
          finding.evidence.push_back("no loader processes beside it");
        if (process.io_share > 0.05)
          finding.evidence.push_back(cat("/proc/", pid, "/stat: waited for block devices ",
                                         fixed(100 * process.io_share, 0), " % of the time"));
        if (by_loaders)
          finding.next = {cat("more loaders: DataLoader(num_workers=…), now ", loaders.pids.size(),
                              ", of ", scene.evidence->cores,
                              " cores; or do the slow part of loading once, ahead of training")};
        else
          finding.next = {
              "load ahead in other processes: DataLoader(num_workers=4, pin_memory=True, "
              "persistent_workers=True, prefetch_factor=4)"};
        if (by_sleep)
          finding.open = {
              cat("whether it waits for data, the network or a lock: py-spy dump --pid ", pid,
                  " shows the line")};
        if (by_itself)
          finding.open = {
              cat("whether it loads data or computes on the CPU between steps: py-spy dump --pid ",
                  pid, " shows the line")};
        findings.push_back(std::move(finding));
      }
    }
  }
  return findings;
}

Findings too_small(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    for (const int pid : program.users) {
      const ProcessView& process = scene.processes.at(pid);
      if (process.memory.size() != 1 || !process.watched) continue;
      const std::size_t position = process.memory.begin()->first;
      const GpuView& gpu = scene.gpus.at(position);
      const Line thread = busiest_thread(scene, pid);
      const Load &activity = gpu.activity(), &busy = gpu[Metric::gpu_busy];
      // PyTorch's backward runs in a thread of its own while the main thread waits for it.
      const bool one_at_a_time =
          thread.cores >= one_core || (process.cores >= one_core && process.cores < 1.5);
      if (!is_enough(activity) || !one_at_a_time || scene.is_shared(position, program)) continue;
      if (loaders_of(scene, program, pid).full > 0 || is_sawtooth(activity)) continue;
      // Without SM activity low power beside a busy GPU is what there is.
      const Load &power = gpu[Metric::power], &limit = gpu[Metric::power_limit];
      const bool low = gpu.has_sm()
                           ? activity.mean() < 2 * working_percent
                           : power.known() && limit.known() && power.mean() < 0.35 * limit.mean();
      if (!low || busy.mean() < 5) continue;
      Finding finding{
          .verdict = cat("the work of ", describe(scene, pid), " is too small for ",
                         scene.gpu_name(position), ": one CPU thread cannot launch it fast enough"),
          .confidence = gpu.has_sm() ? Confidence::likely : Confidence::possible,
          .gpus = {gpu.index},
          .pids = {pid}};
      finding.evidence = {load_line(scene, position), thread.text,
                          cat("/proc/", pid, "/stat: ", fixed(process.cores, 2), " cores in all")};
      const bool spins = world_size(scene, pid) > 1 && busy.mean() >= full_percent;
      if (spins) finding.confidence = Confidence::possible;
      finding.next = {
          "a larger batch; torch.compile(model, mode=\"reduce-overhead\") or a CUDA graph; "
          "several such jobs on one GPU at once"};
      if (process.has_library("lib_lightgbm"))
        finding.next = {"device_type=cpu: on 100 rows one CPU thread took 4 ms, CUDA 460 ms"};
      finding.open = {
          cat("whether the thread launches kernels or computes in Python: "
              "py-spy record --pid ",
              pid, " --native shows it")};
      if (spins)
        finding.open.push_back(
            "or all ranks wait in a collective, for another machine or for ever: the doctor there, "
            "or py-spy dump, tells");
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings waiting_for_others(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    const std::set<std::size_t> used = used_by(scene, program);
    if (program.users.size() < 2 || used.size() < 2) continue;
    const auto all_users = [&](auto holds) {
      return std::all_of(program.users.begin(), program.users.end(), holds);
    };
    // Ranks by their own word, or at least with what ranks talk through.
    const bool are_ranks = all_users([&](int pid) { return world_size(scene, pid) > 1; });
    const bool may_be = all_users([&](int pid) {
      return scene.processes.at(pid).has_library("libnccl") ||
             scene.processes.at(pid).has_library("liblockstep-cuda");
    });
    if (!are_ranks && !may_be) continue;
    // A collective that waits spins: some kernel always runs, on few multiprocessors.
    std::set<std::size_t> spinning, behind;
    for (const std::size_t position : used) {
      const GpuView& gpu = scene.gpus.at(position);
      if (!gpu[Metric::gpu_busy].known() || scene.is_shared(position, program)) continue;
      const bool full = gpu[Metric::gpu_busy].mean() >= full_percent;
      (full ? spinning : behind).insert(position);
    }
    if (behind.size() != 1 || spinning.size() + 1 != used.size()) continue;
    const std::size_t slow = *behind.begin();
    const GpuView& last = scene.gpus.at(slow);
    const bool gap = last[Metric::gpu_busy].mean() < 80;
    const bool little = std::all_of(spinning.begin(), spinning.end(), [&](std::size_t position) {
      const GpuView& gpu = scene.gpus.at(position);
      if (gpu.has_sm()) return gpu[Metric::sm_active].mean() < 60;
      const Load &power = gpu[Metric::power], &limit = gpu[Metric::power_limit];
      return power.known() && limit.known() && power.mean() < 0.5 * limit.mean();
    });
    if (!gap || !little) continue;
    int straggler = 0;
    for (const int pid : program.users)
      if (scene.processes.at(pid).memory.contains(slow)) straggler = pid;
    Finding finding{
        .verdict = cat(names(scene, spinning), spinning.size() == 1 ? " waits" : " wait",
                       " in a collective for ", scene.gpu_name(slow), ": ",
                       describe(scene, straggler), " is the straggler"),
        .confidence = last.has_sm() && are_ranks ? Confidence::likely : Confidence::possible,
        .gpus = indexes(scene, used),
        .pids = {straggler}};
    for (const int pid : program.users)  // the straggler comes first
      if (pid != straggler) finding.pids.push_back(pid);
    for (const std::size_t position : used) finding.evidence.push_back(load_line(scene, position));
    if (const Line thread = busiest_thread(scene, straggler); !thread.text.empty())
      finding.evidence.push_back(thread.text);
    finding.next = {
        cat("see what pid ", straggler, " does between steps: py-spy dump --pid ", straggler),
        "give every rank batches of equal work; log, save and validate on all ranks or beside "
        "training"};
    finding.open = {
        "whether its input, its own CPU work or a larger share of the batch holds it up"};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings one_process_many(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    if (program.users.size() != 1) continue;
    const int pid = program.users.front();
    const ProcessView& process = scene.processes.at(pid);
    if (process.memory.size() < 2 || process.now->threads < 2) continue;
    double mean = 0, copied = 0;
    bool known = process.watched, has_sm = true, copies_known = true;
    for (const auto& [position, bytes] : process.memory) {
      const GpuView& gpu = scene.gpus.at(position);
      // What only holds memory there is not driven.
      known = known && is_enough(gpu.activity()) && !gpu.is_idle() &&
              !scene.is_shared(position, program);
      copies_known = copies_known && gpu[Metric::pcie_sent].known();
      has_sm = has_sm && gpu.has_sm();
      mean += gpu.activity().mean() / static_cast<double>(process.memory.size());
      copied += gpu[Metric::nvlink_sent].mean() + gpu[Metric::pcie_sent].mean() +
                gpu[Metric::pcie_received].mean();
    }
    const bool works = process.cores >= one_core;
    if (!known || !works || mean >= 60 || mean < 1) continue;
    std::set<std::size_t> used;
    for (const auto& [position, bytes] : process.memory) used.insert(position);
    Finding finding{.verdict = cat(describe(scene, pid), " drives ", names(scene, used),
                                   " from one process, and they mostly wait for it"),
                    .confidence = has_sm ? Confidence::likely : Confidence::possible,
                    .gpus = indexes(scene, used),
                    .pids = {pid}};
    for (const auto& [position, bytes] : process.memory) {
      finding.evidence.push_back(context_line(scene, pid, position));
      finding.evidence.push_back(load_line(scene, position));
    }
    finding.evidence.push_back(
        cat("/proc/", pid, "/stat: ", fixed(process.cores, 1), " cores",
            copies_known ? cat("; between and to these GPUs ", format_bytes(copied), "/s") : ""));
    if (const Line thread = busiest_thread(scene, pid); !thread.text.empty())
      finding.evidence.push_back(thread.text);
    finding.next = one_process_a_gpu(scene, pid, process.memory.size());
    if (process.has_library("libtorch"))
      finding.next.insert(
          finding.next.begin(),
          "if it is DataParallel, which copies the model to every GPU in each step and gathers on "
          "one: one process a GPU instead");
    finding.open = {cat("whether it is DataParallel or a model split over GPUs: py-spy dump --pid ",
                        pid, " shows parallel_apply for the first")};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace lockstep::rules
