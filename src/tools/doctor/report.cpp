#include "tools/doctor/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "tools/doctor/rules/rules.h"

namespace lockstep {
namespace {

std::string wrapped(const std::string& head, const std::string& text, int width) {
  return hang_cells(head, printable(text), std::max(width, 40));
}

std::string gpus_text(const Scene& scene, int width) {
  std::string text;
  for (const GpuView& gpu : scene.gpus) {
    text += wrapped("", rules::load_line(scene, gpu.position), width);
    std::set<int> pids = gpu.pids;
    pids.insert(gpu.drawing.begin(), gpu.drawing.end());
    for (const int pid : pids)
      text += wrapped("  ",
                      scene.strangers.contains(pid) || !scene.processes.contains(pid)
                          ? cat("pid ", pid, " (of another PID namespace, or ended)")
                          : rules::describe(scene, pid),
                      width);
  }
  return text;
}

std::vector<std::string> remarks(const Scene& scene) {
  std::vector<std::string> list;
  if (scene.names_nobody)
    list.push_back(
        "which process is on which GPU cannot be told: NVML names none that is here, as in a "
        "container; the rules that need it find nothing");
  if (!scene.inferred.empty())
    list.push_back(
        "NVML does not name processes by the numbers that they have here, as in a container; that "
        "those on the GPUs are the ones with CUDA open, and none is outside, is inferred, and what "
        "follows is less sure");
  const Evidence& evidence = *scene.evidence;
  std::set<std::size_t> untold, split_up, older, silent;
  for (const GpuView& gpu : scene.gpus) {
    if (gpu.fault.empty() && !gpu.pids_known) untold.insert(gpu.position);
    if (!gpu[GpuMetric::sm_active].unsupported) continue;
    constexpr int hopper = 9;
    const int capability = evidence.gpus[gpu.position].compute_major;
    (evidence.places[gpu.position].mig.value_or(false) ? split_up
     : capability > 0 && capability < hopper           ? older
                                                       : silent)
        .insert(gpu.position);
  }
  if (!untold.empty())
    list.push_back(cat("who is on ", rules::names(scene, untold),
                       " is not known: the driver does not tell; the rules that need it leave ",
                       untold.size() == 1 ? "it" : "them", " out"));
  const auto no_activity = [&](const std::set<std::size_t>& positions, const char* why) {
    if (!positions.empty())
      list.push_back(cat("SM activity of ", rules::names(scene, positions), " is not to be had",
                         why,
                         ": \"busy\" and power stand for it, and what follows from them is less "
                         "sure"));
  };
  no_activity(split_up, " as a whole while MIG splits it");
  no_activity(older, " before Hopper");
  no_activity(silent, " from this driver");
  if (evidence.gpus_of_host > static_cast<int>(evidence.gpus.size()))
    list.push_back(cat("the machine has ", evidence.gpus_of_host,
                       " GPUs, and this environment shows ", evidence.gpus.size(),
                       ": a container (docker run --gpus all) or Slurm (--gpus) may give more"));
  if (evidence.snapshots.size() < 2)
    list.push_back("processes were seen once only: how much they worked is not known");
  std::map<std::string, int> unknown;  // key: why it is unknown which GPUs a process may use
  for (const auto& [pid, process] : scene.processes)
    if (process.computes() && !process.visible) ++unknown[process.why_not_visible];
  for (const auto& [why, count] : unknown)
    list.push_back(cat("which GPUs ", count, count == 1 ? " process" : " processes",
                       " may use is not known: ", why));
  int hidden = 0, overwritten = 0;
  for (const auto& [pid, process] : scene.processes) {
    if (process.now->state == 'Z') continue;
    const std::size_t own = process.now->has_overwritten_environment() ? 1 : 0;
    if (process.now->unreadable.size() > own) ++hidden;
    if (own > 0) ++overwritten;
  }
  if (overwritten > 0)
    list.push_back(cat(overwritten, overwritten == 1 ? " process has" : " processes have",
                       " overwritten the environment of the start, with a title for example "
                       "(setproctitle): that of the parent stands for it, where it can be read"));
  if (hidden > 0)
    list.push_back(cat(hidden, hidden == 1 ? " process" : " processes",
                       " of other users could be looked at in part only; root sees all"));
  return list;
}

}  // namespace

Findings about(const Scene& scene, const Findings& findings, std::optional<int> pid) {
  if (!pid) return findings;
  const auto belongs = [&](int one) {
    for (std::size_t guard = 0; guard <= scene.parents.size(); ++guard) {
      if (one == *pid) return true;
      const auto up = scene.parents.find(one);
      if (up == scene.parents.end()) return false;
      one = up->second;
    }
    return false;
  };
  std::set<int> used;  // NVML indexes of the GPUs that it uses
  for (const GpuView& gpu : scene.gpus)
    if (std::any_of(gpu.pids.begin(), gpu.pids.end(),
                    [&](int one) { return !scene.strangers.contains(one) && belongs(one); }))
      used.insert(gpu.index);
  Findings own;
  for (const Finding& finding : findings) {
    const bool of_its_gpu =
        finding.pids.empty() &&
        (used.empty() || std::any_of(finding.gpus.begin(), finding.gpus.end(),
                                     [&](int gpu) { return used.contains(gpu); }));
    if (of_its_gpu || std::any_of(finding.pids.begin(), finding.pids.end(), belongs))
      own.push_back(finding);
  }
  return own;
}

std::string findings_text(const Findings& findings, int width) {
  if (findings.empty()) return "nothing found\n";
  std::string text;
  int number = 0;
  for (const Finding& finding : findings) {
    if (++number > 1) text += "\n";
    text += wrapped(
        cat(number, ". "),
        cat(finding.verdict, " (", to_string(finding.confidence), "; ", finding.rule, ")"), width);
    for (const std::string& line : finding.evidence) text += wrapped("   seen: ", line, width);
    for (const std::string& line : finding.next) text += wrapped("   do:   ", line, width);
    for (const std::string& line : finding.open) text += wrapped("   open: ", line, width);
  }
  return text;
}

std::string report_text(const Scene& scene, const Findings& findings, int width) {
  std::string text = gpus_text(scene, width);
  for (const std::string& remark : remarks(scene)) text += wrapped("note: ", remark, width);
  return text + "\n" + findings_text(findings, width);
}

nlohmann::json report_json(const Scene& scene, const Findings& findings) {
  nlohmann::json list = nlohmann::json::array(), gpus = nlohmann::json::array();
  for (const Finding& finding : findings)
    list.push_back({{"rule", finding.rule},
                    {"verdict", finding.verdict},
                    {"confidence", to_string(finding.confidence)},
                    {"evidence", finding.evidence},
                    {"next", finding.next},
                    {"open", finding.open},
                    {"gpus", finding.gpus},
                    {"pids", finding.pids}});
  for (const GpuView& gpu : scene.gpus)
    gpus.push_back(
        {{"gpu", gpu.index}, {"load", rules::load_line(scene, gpu.position)}, {"pids", gpu.pids}});
  return {{"findings", std::move(list)},
          {"gpus", std::move(gpus)},
          {"strangers", scene.strangers},
          {"notes", remarks(scene)},
          {"seconds", scene.time_s}};
}

}  // namespace lockstep
