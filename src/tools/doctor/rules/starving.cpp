// The rule about GPUs that wait for their input.
#include <optional>

#include "core/base/text/text.h"
#include "tools/doctor/rules/rules.h"
#include "tools/doctor/work.h"

namespace lockstep::rules {
namespace {

// The cause for which a GPU waits.
enum class Cause { loaders, disk, own_thread, other_work, sleep };

std::optional<Cause> cause_of(const Scene& scene, const Program& program, int pid,
                              std::size_t position, const Loaders& loaders) {
  const ProcessView& process = scene.processes.at(pid);
  const GpuView& gpu = scene.gpus.at(position);
  const Load& activity = gpu.activity();
  if (!is_enough(activity) || scene.is_shared(position, program)) return std::nullopt;
  const double most = process.busiest.empty() ? 0 : process.busiest.front().cores;
  const bool is_low = activity.mean() < 2 * working_percent;
  const bool waits = activity.mean() < 50 && activity.most() >= 2;
  if (waits && loaders.full > 0 && 2 * loaders.full >= static_cast<int>(loaders.pids.size()))
    return Cause::loaders;
  if (waits && process.io_share >= 0.2) return Cause::disk;
  // Kernels may be so short that no sample shows 2 %.
  if (is_low && !gpu.is_idle() && one_at_a_time(process) && launches_little(gpu) &&
      loaders.full == 0)
    return Cause::own_thread;
  // Samples that are longer than a step show neither bursts nor pauses.
  if (!waits || !(is_sawtooth(activity) || is_low)) return std::nullopt;
  if (most < 0.3) return Cause::sleep;
  return is_sawtooth(activity) ? std::optional(Cause::other_work) : std::nullopt;
}

std::vector<std::string> starving_evidence(const Scene& scene, int pid, std::size_t position,
                                           const Loaders& loaders, Cause cause) {
  const ProcessView& process = scene.processes.at(pid);
  const GpuView& gpu = scene.gpus.at(position);
  const Load& activity = gpu.activity();
  std::vector<std::string> lines{load_line(scene, position)};
  if (is_sawtooth(activity))
    lines.push_back(
        cat("work comes in bursts: ", fixed(100 * activity.share(0, working_percent), 0),
            " % of the samples below ", fixed(working_percent, 0), " %, the highest ",
            fixed(activity.most(), 0), " %"));
  if (const ThreadLine thread = busiest_thread(scene, pid); !thread.text.empty())
    lines.push_back(thread.text);
  if (cause == Cause::own_thread && process.read_bytes_per_s > 0)
    lines.push_back(cat("/proc/", pid, "/io: ", format_bytes(process.read_bytes_per_s), "/s read"));
  if (!loaders.pids.empty())
    lines.push_back(cat(loaders.pids.size(), loaders.pids.size() == 1 ? " process" : " processes",
                        " beside it without a GPU: ", loaders.full, " at their limit, ",
                        fixed(loaders.cores, 1), " cores, ", format_bytes(loaders.read_bytes_per_s),
                        "/s read"));
  else
    lines.push_back("no loader processes beside it");
  if (process.io_share > 0.05)
    lines.push_back(cat("/proc/", pid, "/stat: waited for block devices ",
                        fixed(100 * process.io_share, 0), " % of the time"));
  return lines;
}

std::vector<std::string> next_of(const Scene& scene, const Loaders& loaders, Cause cause) {
  if (cause == Cause::loaders)
    return {cat("more loaders: DataLoader(num_workers=…), now ", loaders.pids.size(), ", of ",
                scene.evidence->cores,
                " cores; or do the slow part of loading once, ahead of training")};
  if (cause == Cause::own_thread && !loaders.pids.empty())
    return {
        "its loaders keep up: move what the main process does between steps into them (collate_fn, "
        "decoding), onto the GPU, or out of the loop (logging, .item(), saving)"};
  std::vector<std::string> next{
      "load ahead in other processes: DataLoader(num_workers=4, pin_memory=True, "
      "persistent_workers=True, prefetch_factor=4)"};
  if (cause == Cause::own_thread)
    next.push_back(cat(
        "its main process loads by itself now (num_workers=0 is the default), and ",
        scene.evidence->cores,
        " cores are there; or do the slow part, decoding for example, once, ahead of training"));
  return next;
}

std::string starving_open(int pid, const GpuView& gpu, Cause cause, bool serves) {
  switch (cause) {
    case Cause::sleep:
      return cat("whether it waits for data, the network or a lock: py-spy dump --pid ", pid,
                 " shows the line");
    case Cause::other_work:
      return cat("whether it loads data or computes on the CPU between steps: py-spy dump --pid ",
                 pid, " shows the line");
    case Cause::own_thread:
      if (serves) return "whether it waits for requests: a server polls for them at a whole core";
      return cat("whether the thread decodes data, or does other work of the CPU between steps",
                 gpu.has_sm() ? ": that it launches many tiny kernels would show as a GPU busy for "
                                "far longer than its multiprocessors are active; "
                              : ", or launches many tiny kernels: ",
                 "py-spy dump --pid ", pid, " shows the line");
    case Cause::loaders:
    case Cause::disk:
      break;
  }
  return "";
}

}  // namespace

Findings starving(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    const auto launcher = launcher_in(scene, program);
    const bool serves = launcher && launcher->second.serves;
    for (const int pid : program.users) {
      const ProcessView& process = scene.processes.at(pid);
      if (!process.watched) continue;
      const Loaders loaders = loaders_of(scene, program, pid);
      for (const auto& [position, bytes] : process.memory) {
        const auto cause = cause_of(scene, program, pid, position, loaders);
        if (!cause) continue;
        const GpuView& gpu = scene.gpus.at(position);
        const bool known = *cause == Cause::loaders || *cause == Cause::disk ||
                           (*cause == Cause::own_thread && !serves);
        const char* what = *cause == Cause::disk         ? "the disk: "
                           : *cause == Cause::own_thread ? "one CPU thread of its own program: "
                                                         : "its input: ";
        Finding finding{
            .verdict = cat(scene.gpu_name(position), " waits for ", what, describe(scene, pid)),
            .confidence = known ? Confidence::likely : Confidence::possible,
            .evidence = starving_evidence(scene, pid, position, loaders, *cause),
            .next = next_of(scene, loaders, *cause),
            .gpus = {gpu.index},
            .pids = {pid}};
        if (!gpu.has_sm()) finding.confidence = lowered(finding.confidence);
        if (std::string open = starving_open(pid, gpu, *cause, serves); !open.empty())
          finding.open = {std::move(open)};
        findings.push_back(std::move(finding));
      }
    }
  }
  return findings;
}

}  // namespace lockstep::rules
