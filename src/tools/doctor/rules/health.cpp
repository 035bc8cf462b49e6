// Rules about the GPUs themselves, and about their other users.
#include <algorithm>

#include "core/base/text/text.h"
#include "tools/doctor/rules/rules.h"
#include "tools/monitor/reading_text.h"

namespace lockstep::rules {
namespace {

constexpr double least_taken_bytes = 0x1p31;  // drivers keep less than this for themselves

// Explains why a process that NVML lists was not alive all the time. "" if it was alive, or may
// have been. A process that ends during the samples still holds the memory that they show.
std::string why_dead(const Scene& scene, int number) {
  const std::vector<ProcessSnapshot>& snapshots = scene.evidence->snapshots;
  const auto always = [&](auto holds) {
    return !snapshots.empty() && std::all_of(snapshots.begin(), snapshots.end(), holds);
  };
  if (!scene.evidence->numbers_of_host &&
      always([&](const ProcessSnapshot& snapshot) { return snapshot.gone.contains(number); }))
    return cat("/proc/", number, " is not there");
  const std::optional<int> pid = scene.process_named(number);
  if (pid && always([&](const ProcessSnapshot& snapshot) {
        const auto found = snapshot.processes.find(*pid);
        return found != snapshot.processes.end() && found->second.state == 'Z';
      }))
    return cat("/proc/", *pid, "/stat: state Z, it has ended");
  return "";
}

// Programs that hardly use a GPU do not slow each other down.
bool hardly_runs(const GpuView& gpu) {
  const Load &activity = gpu.activity(), &busy = gpu[GpuMetric::gpu_busy];
  return activity.known() && activity.mean() < 50 && busy.mean() < 80;
}

// There must be at least one sample.
const GpuSample& newest_sample(const Scene& scene, const GpuView& gpu) {
  return scene.evidence->samples.back().gpus.at(gpu.position);
}

// Whether the GPU works and its memory is in use, but NVML lists no process. This happens if the
// only program is in a container whose processes are invisible here.
bool works_for_nobody(const Scene& scene, const GpuView& gpu) {
  if (scene.evidence->samples.empty()) return false;
  const Reading& used = newest_sample(scene, gpu)[GpuMetric::memory_used];
  return gpu.pids_known && gpu.pids.empty() && gpu.drawing.empty() && !scene.names_nobody &&
         gpu.activity().known() && !hardly_runs(gpu) && used.state == ReadingState::measured &&
         used.value >= least_taken_bytes;
}

// Finds a power limit below the board's own limit that holds the GPU's clock down. The finding has
// no evidence yet.
std::optional<Finding> held_by_limit(const GpuView& gpu, const GpuPlace& place) {
  constexpr double at_limit = 0.9;
  const Load &power = gpu[GpuMetric::power], &limit = gpu[GpuMetric::power_limit];
  const Load &clock = gpu[GpuMetric::sm_clock], &most = gpu[GpuMetric::sm_clock_most];
  if (!clock.known() || !most.known() || !limit.known() || power.mean() < at_limit * limit.mean())
    return std::nullopt;
  // Large boards keep more than this share of their clock at their own limit.
  const double enough = place.default_power_limit_w ? 0.95 : 0.6;
  if (clock.mean() >= enough * most.mean()) return std::nullopt;
  if (!place.default_power_limit_w)
    return Finding{
        .verdict = cat("GPU ", gpu.index, " is held back by its power limit"),
        .confidence = Confidence::possible,
        .next = {cat("nvidia-smi -q -d POWER -i ", gpu.index,
                     " shows the limit that the board came with; as root, nvidia-smi -i ",
                     gpu.index, " -pl WATTS sets it")},
        .open = {"whether the limit was lowered: boards of 70 W, such as T4, work so at their own"},
        .gpus = {gpu.index}};
  const std::string usual = fixed(*place.default_power_limit_w, 0);
  if (limit.mean() >= 0.95 * *place.default_power_limit_w) return std::nullopt;
  return Finding{
      .verdict = cat("GPU ", gpu.index, " is held back by a lowered power limit: ",
                     limit.mean_text(), " W of ", usual),
      .confidence = Confidence::certain,
      .next = {cat("as root, nvidia-smi -i ", gpu.index, " -pl ", usual,
                   " sets what the board came with")},
      .open = {cat("who lowered it, and why: of nvidia-smi -q -d POWER -i ", gpu.index,
                   ", \"requested\" is what somebody set, \"current\" what the machine's own "
                   "management leaves of it")},
      .gpus = {gpu.index}};
}

}  // namespace

Findings lost(const Scene& scene) {
  Findings findings;
  for (const GpuView& gpu : scene.gpus) {
    const GpuInfo& info = scene.evidence->gpus[gpu.position];
    const std::string fault = gpu.fault.empty() ? info.fault : gpu.fault;
    if (fault.empty()) continue;
    findings.push_back(
        {.verdict = cat("GPU ", gpu.index, " does not answer: ", fault),
         .confidence = Confidence::certain,
         .evidence = {cat("NVML: ", fault)},
         .next = {"dmesg | grep -i xid names the cause; the machine has to be restarted, or "
                  "the GPU reset by its administrator"},
         .gpus = {gpu.index}});
  }
  return findings;
}

Findings faulty(const Scene& scene) {
  constexpr double recent_s = 24 * 3600;
  Findings findings;
  for (std::size_t i = 0; i < scene.evidence->places.size(); ++i) {
    const GpuPlace& place = scene.evidence->places[i];
    const std::string name = scene.gpu_name(i);
    const auto add = [&](std::string verdict, std::string evidence, std::string next) {
      findings.push_back({.verdict = std::move(verdict),
                          .confidence = Confidence::certain,
                          .evidence = {std::move(evidence)},
                          .next = {std::move(next)},
                          .gpus = {scene.gpus[i].index}});
    };
    const std::uint64_t errors = place.ecc_uncorrected.value_or(0);
    if (errors > 0)
      add(cat(name, " has had ", errors, errors == 1 ? " memory error" : " memory errors",
              " that ECC could not correct"),
          cat("NVML: ", errors, " uncorrected since the driver was loaded"),
          "programs that used it then have ended or may be wrong: start them again; a reset by the "
          "administrator puts spare memory in place");
    if (place.remap_failed)
      add(cat(name, " has bad memory and no spare to replace it"),
          "NVML: remapping a row of its memory failed",
          "use another GPU, and have this one replaced");
    else if (place.remap_pending)
      add(cat(name, " waits for a reset to replace bad memory"),
          "NVML: remapping of rows is pending",
          cat("when nobody uses it, as root: nvidia-smi -r -i ", scene.gpus[i].index));
    for (const GpuFault& fault : place.faults) {
      const std::string meaning = xid_meaning(fault.xid);
      const double age_s = std::max(0.0, scene.at_s - fault.at_s);
      if (meaning.empty() || age_s > recent_s) continue;
      add(cat("the driver noted a fault of ", name, ": ", meaning),
          cat("kernel log: Xid ", fault.xid, ", ", fault.times,
              fault.times == 1 ? " time" : " times", ", last ", age_text(age_s), " ago"),
          "dmesg | grep -i xid shows it; where it comes again, have the GPU, its cables and its "
          "slot looked at");
    }
  }
  return findings;
}

Findings cannot_open(const Scene& scene) {
  Findings findings;
  const Evidence& evidence = *scene.evidence;
  for (std::size_t i = 0; i < evidence.places.size(); ++i) {
    const GpuPlace& place = evidence.places[i];
    if (!place.denied.empty())
      findings.push_back(
          {.verdict = cat(scene.gpu_name(i), " cannot be opened here: ", place.denied),
           .confidence = Confidence::certain,
           .evidence = {cat("open(\"", place.device_file, "\"): ", place.denied)},
           .next =
               {"in a container: start it with this GPU (docker run --gpus all); under Slurm: ask "
                "for more with --gpus; else see the owner of the file"},
           .gpus = {scene.gpus[i].index}});
    if (place.compute_mode == "prohibited")
      findings.push_back(
          {.verdict = cat(scene.gpu_name(i), " takes no programs: its compute mode is prohibited"),
           .confidence = Confidence::certain,
           .evidence = {"NVML: compute mode prohibited"},
           .next = {cat("as root: nvidia-smi -i ", scene.gpus[i].index, " -c DEFAULT")},
           .gpus = {scene.gpus[i].index}});
    if (place.mig.value_or(false) && place.mig_instances == 0)
      findings.push_back(
          {.verdict =
               cat(scene.gpu_name(i), " is split by MIG, but has no instance: nobody can use it"),
           .confidence = Confidence::certain,
           .evidence = {"NVML: MIG is on, no instance is there"},
           .next = {"make instances (nvidia-smi mig -cgi … -C), or switch MIG off"},
           .gpus = {scene.gpus[i].index}});
  }
  return findings;
}

Findings held_back(const Scene& scene) {
  constexpr unsigned long long heat = 0x20 | 0x40, power_brake = 0x80, hardware = 0x08,
                               power_cap = 0x04;
  Findings findings;
  for (const GpuView& gpu : scene.gpus) {
    unsigned long long reasons = 0, times = 0, capped = 0;
    for (const double value : gpu[GpuMetric::clock_limits].values) {
      if (!(value >= 0 && value < 0x1p63)) continue;  // only in a damaged recording
      const auto bits = static_cast<unsigned long long>(value);
      if (bits & (heat | power_brake | hardware)) ++times;
      if (bits & power_cap) ++capped;
      reasons |= bits & (heat | power_brake | hardware);
    }
    const std::size_t count = gpu[GpuMetric::clock_limits].values.size();
    const Load &clock = gpu[GpuMetric::sm_clock], &most = gpu[GpuMetric::sm_clock_most];
    const auto reasons_line = [&](unsigned long long bits, unsigned long long samples) {
      return cat("NVML clock event reasons: ", clock_limit_words(bits), " in ", samples, " of ",
                 count, " samples");
    };
    const std::string clock_text =
        cat("SM clock ", clock.mean_text(), " of ", most.mean_text(), " MHz, ");
    if (times * 2 > count && count > 0) {
      Finding finding{
          .verdict = cat("GPU ", gpu.index, " is held back: ", clock_limit_words(reasons)),
          .confidence = Confidence::certain,
          .gpus = {gpu.index}};
      finding.evidence = {reasons_line(reasons, times),
                          cat(clock_text, gpu[GpuMetric::temperature].most_text(), " C")};
      finding.next = {
          reasons & heat
              ? "see to its cooling: fans, filters, the air before it; or lower its power limit"
              : "see to its power supply: the board or the rack asks it to slow down"};
      findings.push_back(std::move(finding));
    }
    const GpuPlace& place = scene.evidence->places[gpu.position];
    if (capped * 2 > count && times * 2 <= count)
      if (std::optional<Finding> finding = held_by_limit(gpu, place)) {
        finding->evidence = {reasons_line(power_cap, capped),
                             cat(clock_text, gpu[GpuMetric::power].mean_text(), " of ",
                                 gpu[GpuMetric::power_limit].mean_text(), " W")};
        findings.push_back(*std::move(finding));
      }
    const Load &lanes = gpu[GpuMetric::pcie_lanes], &generation = gpu[GpuMetric::pcie_generation];
    // An idle link saves power at a lower generation, but keeps its lanes.
    const bool works = gpu[GpuMetric::gpu_busy].known() && gpu[GpuMetric::gpu_busy].mean() >= 20;
    const bool fewer = lanes.known() && place.pcie_lanes > 0 && lanes.most() < place.pcie_lanes;
    const bool slower = works && generation.known() && place.pcie_generation > 0 &&
                        generation.most() < place.pcie_generation;
    if (!fewer && !slower) continue;
    findings.push_back(
        {.verdict = cat("the PCIe link of GPU ", gpu.index, " is below what GPU and slot can do"),
         .confidence = slower ? Confidence::certain : Confidence::possible,
         .evidence = {cat("NVML: generation ", fixed(generation.most(), 0), " of ",
                          place.pcie_generation, ", ", fixed(lanes.most(), 0), " of ",
                          place.pcie_lanes, " lanes", works ? ", while it works" : "")},
         .next = {"seat the card and its riser again, see the slot's setting in the firmware"},
         .open =
             {"whether the board shares the lanes of this slot with another (x8/x8): its manual "
              "tells"},
         .gpus = {gpu.index}});
  }
  return findings;
}

Findings other_tenant(const Scene& scene) {
  Findings findings;
  for (const GpuView& gpu : scene.gpus) {
    if (works_for_nobody(scene, gpu)) {
      const double used = newest_sample(scene, gpu)[GpuMetric::memory_used].value;
      findings.push_back(
          {.verdict =
               cat("GPU ", gpu.index, " computes for a process that cannot be seen from here"),
           .confidence = Confidence::likely,
           .evidence = {load_line(scene, gpu.position),
                        cat("NVML: ", format_bytes(used), " used, by no process that it names")},
           .next = {"lockstep doctor, or nvidia-smi, outside the container names it"},
           .open = {"whose it is: of another container or PID namespace, of a desktop outside, or "
                    "of a virtual machine that shares the GPU"},
           .gpus = {gpu.index}});
      continue;
    }
    // Only processes that appear together in a sample share a GPU. Processes that follow one
    // another do not.
    std::set<int> together, roots;
    for (const MonitorSample& sample : scene.evidence->samples) {
      std::set<int> pids, here;
      for (const GpuProcess& one : sample.gpus.at(gpu.position).processes) {
        if (one.graphics) continue;
        const std::optional<int> pid = scene.process_named(one.pid);
        pids.insert(pid.value_or(one.pid));
        here.insert(pid ? scene.program_of(*pid).root : one.pid);
      }
      if (here.size() > roots.size()) {
        roots = here;
        together = pids;
      }
    }
    // Several host pids may belong to one program.
    const bool any_stranger = std::any_of(together.begin(), together.end(),
                                          [&](int pid) { return scene.strangers.contains(pid); });
    if (roots.size() < 2 || (any_stranger && !scene.contexts_known)) continue;
    if (hardly_runs(gpu)) continue;
    Finding finding{.verdict = cat("GPU ", gpu.index, " is shared by ", roots.size(), " programs"),
                    .confidence = Confidence::certain,
                    .gpus = {gpu.index}};
    for (const int pid : together) {
      if (scene.strangers.contains(pid)) {
        finding.evidence.push_back(cat("pid ", pid, ": of another PID namespace, or ended"));
        continue;
      }
      const auto process = scene.processes.find(pid);
      finding.pids.push_back(pid);
      const auto sm = process->second.sm.find(gpu.position);
      finding.evidence.push_back(
          cat(describe(scene, pid), " of ", process->second.now->user,
              sm == process->second.sm.end() ? "" : cat(": SM ", fixed(sm->second, 0), " %")));
    }
    finding.evidence.push_back(load_line(scene, gpu.position));
    finding.next = {"give each its own GPU, or ask the other's owner"};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings kept_memory(const Scene& scene) {
  Findings findings;
  if (scene.evidence->samples.empty() || scene.names_nobody) return findings;
  for (const GpuView& gpu : scene.gpus) {
    for (const auto& [pid, process] : scene.processes) {
      const auto held = process.memory.find(gpu.position);
      if (held == process.memory.end()) continue;
      const bool stopped = process.is_stopped();
      const bool orphan = process.now->parent == 1 && process.watched && process.cores < 0.01 &&
                          gpu.is_idle() && scene.program_of(pid).users.size() == 1;
      if (!stopped && !orphan) continue;
      Finding finding{
          .verdict = cat(
              describe(scene, pid), stopped ? " is stopped and holds " : " does nothing and holds ",
              held->second > 0 ? format_bytes(static_cast<double>(held->second)) : "memory",
              " of GPU ", gpu.index),
          .confidence = stopped ? Confidence::certain : Confidence::possible,
          .gpus = {gpu.index},
          .pids = {pid}};
      finding.evidence = {context_line(scene, pid, gpu.position),
                          cat("/proc/", pid, "/stat: state ", process.now->state, ", parent ",
                              process.now->parent)};
      finding.next = {stopped ? cat("kill -CONT ", pid, " lets it go on, kill ", pid, " ends it")
                              : cat("kill ", pid, " ends it, if nobody needs it any more")};
      if (!stopped) finding.open = {"whether somebody still uses it, a notebook for example"};
      findings.push_back(std::move(finding));
    }
    // Compares the memory of all processes with the GPU's total in use.
    const bool is_inferred = std::any_of(gpu.pids.begin(), gpu.pids.end(), [&](int pid) {
      const auto found = scene.inferred.find(pid);
      return found != scene.inferred.end() && found->second == 0;
    });
    if (is_inferred) continue;  // all memory in use was attributed to the inferred process
    if (works_for_nobody(scene, gpu)) continue;
    const GpuSample& newest = newest_sample(scene, gpu);
    const Reading& used = newest[GpuMetric::memory_used];
    double held = 0;
    int living = 0;
    std::vector<std::string> dead;
    bool all_told = newest.processes_known;
    for (const GpuProcess& one : newest.processes) {
      all_told = all_told && one.memory_bytes.has_value();
      if (const std::string why = why_dead(scene, one.pid); !why.empty()) {
        dead.push_back(cat("NVML: pid ", one.pid, " holds ",
                           format_bytes(static_cast<double>(one.memory_bytes.value_or(0))), "; ",
                           why));
        continue;
      }
      ++living;
      held += static_cast<double>(one.memory_bytes.value_or(0));
    }
    if (!all_told || used.state != ReadingState::measured || used.value - held < least_taken_bytes)
      continue;
    std::vector<std::string> evidence{cat("NVML: ", format_bytes(used.value), " used, ",
                                          format_bytes(held), " by ", living,
                                          living == 1 ? " living process" : " living processes")};
    evidence.insert(evidence.end(), dead.begin(), dead.end());
    findings.push_back(
        {.verdict =
             cat(format_bytes(used.value - held), " of GPU ", gpu.index, " are taken, and no ",
                 dead.empty() ? "process that can be seen" : "living process", " has them"),
         .confidence = Confidence::likely,
         .evidence = std::move(evidence),
         .next = {cat("fuser -v ",
                      scene.evidence->places[gpu.position].device_file.empty()
                          ? "/dev/nvidia*"
                          : scene.evidence->places[gpu.position].device_file,
                      " (as root) names who has the device open")},
         .open = {"a process of another container, or one that died and whose memory the driver "
                  "still keeps"},
         .gpus = {gpu.index}});
  }
  return findings;
}

}  // namespace lockstep::rules
