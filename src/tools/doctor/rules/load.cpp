// Rules about how well processes use their GPUs.
#include <algorithm>

#include "core/base/text/text.h"
#include "tools/doctor/rules/rules.h"
#include "tools/doctor/work.h"

namespace lockstep::rules {
namespace {

constexpr double full_percent = 95;
// Thresholds for GPUs that one process drives. Some GPUs report no SM activity, but only the time
// in which any kernel ran. That time is far longer than the time of full work. For example, the
// second of two T4s under DataParallel is busy for 60 %.
constexpr double mostly_waiting_sm = 60, waiting_busy = 85;
constexpr double least_cores = 0.3;  // a process with less mostly sleeps

}  // namespace

Findings too_small(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    for (const int pid : program.users) {
      const ProcessView& process = scene.processes.at(pid);
      if (process.memory.size() != 1 || !process.watched) continue;
      const std::size_t position = process.memory.begin()->first;
      const GpuView& gpu = scene.gpus.at(position);
      const ThreadLine thread = busiest_thread(scene, pid);
      const Load &activity = gpu.activity(), &busy = gpu[GpuMetric::gpu_busy];
      if (!is_enough(activity) || !one_at_a_time(process) || scene.is_shared(position, program))
        continue;
      if (loaders_of(scene, program, pid).full > 0 || is_sawtooth(activity)) continue;
      // Without SM activity, low power on a busy GPU is the only sign.
      const Load &power = gpu[GpuMetric::power], &limit = gpu[GpuMetric::power_limit];
      const bool low = gpu.has_sm()
                           ? activity.mean() < 2 * working_percent
                           : power.known() && limit.known() && power.mean() < 0.35 * limit.mean();
      if (!low || busy.mean() < 5 || launches_little(gpu)) continue;
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
    // Ranks are recognized by their environment. If it does not tell, a library for communication
    // between ranks makes them likely.
    const bool are_ranks = all_users([&](int pid) { return world_size(scene, pid) > 1; });
    const bool may_be = all_users([&](int pid) {
      return scene.processes.at(pid).has_library("libnccl") ||
             scene.processes.at(pid).has_library("liblockstep-cuda");
    });
    if (!are_ranks && !may_be) continue;
    // A collective that waits polls inside a kernel. Some kernel always runs, but on few
    // multiprocessors.
    std::set<std::size_t> spinning, behind;
    for (const std::size_t position : used) {
      const GpuView& gpu = scene.gpus.at(position);
      if (!gpu[GpuMetric::gpu_busy].known() || scene.is_shared(position, program)) continue;
      const bool full = gpu[GpuMetric::gpu_busy].mean() >= full_percent;
      (full ? spinning : behind).insert(position);
    }
    if (behind.size() != 1 || spinning.size() + 1 != used.size()) continue;
    const std::size_t slow = *behind.begin();
    const GpuView& last = scene.gpus.at(slow);
    const bool gap = last[GpuMetric::gpu_busy].mean() < 80;
    const bool little = std::all_of(spinning.begin(), spinning.end(), [&](std::size_t position) {
      const GpuView& gpu = scene.gpus.at(position);
      if (gpu.has_sm()) return gpu[GpuMetric::sm_active].mean() < 60;
      const Load &power = gpu[GpuMetric::power], &limit = gpu[GpuMetric::power_limit];
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
    if (const ThreadLine thread = busiest_thread(scene, straggler); !thread.text.empty())
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
      // A GPU that only holds the process's memory does not count.
      known = known && is_enough(gpu.activity()) && !gpu.is_idle() &&
              !scene.is_shared(position, program);
      copies_known = copies_known && gpu[GpuMetric::pcie_sent].known();
      has_sm = has_sm && gpu.has_sm();
      mean += gpu.activity().mean() / static_cast<double>(process.memory.size());
      copied += gpu[GpuMetric::nvlink_sent].mean() + gpu[GpuMetric::pcie_sent].mean() +
                gpu[GpuMetric::pcie_received].mean();
    }
    // If other programs keep the cores busy, the process gets fewer cores than it could use.
    const bool works = process.cores >= one_core;
    const bool waits = mean < (has_sm ? mostly_waiting_sm : waiting_busy) && mean >= 1;
    if (!known || process.cores < least_cores || !waits) continue;
    std::set<std::size_t> used;
    for (const auto& [position, bytes] : process.memory) used.insert(position);
    Finding finding{
        .verdict = cat(
            describe(scene, pid), " drives ", names(scene, used), " from one process, and they ",
            has_sm ? "mostly wait for it"
                   : cat("wait for it at least ", fixed(100 - mean, 0), " % of the time")),
        .confidence = has_sm && works ? Confidence::likely : Confidence::possible,
        .gpus = indexes(scene, used),
        .pids = {pid}};
    for (const auto& [position, bytes] : process.memory) {
      finding.evidence.push_back(context_line(scene, pid, position));
      finding.evidence.push_back(load_line(scene, position));
    }
    finding.evidence.push_back(
        cat("/proc/", pid, "/stat: ", fixed(process.cores, 1), " cores",
            copies_known ? cat("; between and to these GPUs ", format_bytes(copied), "/s") : ""));
    if (const ThreadLine thread = busiest_thread(scene, pid); !thread.text.empty())
      finding.evidence.push_back(thread.text);
    const std::set<std::size_t> visible = visible_to(scene, program).value_or(used);
    const std::size_t spare = without(idle_of(scene, visible, program.pids), used).size();
    finding.next = one_process_a_gpu(scene, pid, used.size() + spare);
    if (process.has_library("libtorch"))
      finding.next.insert(
          finding.next.begin(),
          "if it is DataParallel, which copies the model to every GPU in each step and gathers on "
          "one: one process per GPU instead");
    finding.open = {cat("whether it is DataParallel or a model split over GPUs: py-spy dump --pid ",
                        pid, " shows parallel_apply for the first")};
    if (!works)
      finding.open.push_back(cat(
          "whether they wait for its input instead: it had ", fixed(process.cores, 1),
          " cores, and where other programs keep the cores busy it gets less than it could use"));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace lockstep::rules
