// Rules about which process runs on which GPU.
#include <algorithm>

#include "core/base/text/text.h"
#include "core/devices/gpus/visible_gpus.h"
#include "tools/doctor/rules/rules.h"

namespace lockstep::rules {
namespace {

// The values of LOCAL_RANK in the program's processes on GPUs.
std::set<std::string> local_ranks(const Scene& scene, const Program& program) {
  std::set<std::string> ranks;
  for (const int pid : program.users)
    if (const auto rank = scene.processes.at(pid).variable("LOCAL_RANK")) ranks.insert(*rank);
  return ranks;
}

// The GPU on which a process has most of its memory.
std::size_t home_of(const ProcessView& process) {
  return std::max_element(process.memory.begin(), process.memory.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Whether the process has loaded CUDA and tried to use a GPU. CUDA opens the control file before it
// is refused.
bool has_tried_cuda(const ProcessView& process) {
  return process.now->control_file &&
         (process.has_library("libcuda.so") || process.has_library("libtorch_cuda"));
}

// Whether the process is an MPS server. Other processes compute through it, and NVML may list the
// server alone.
bool serves_others(const Scene& scene, int pid) {
  const auto process = scene.processes.find(pid);
  return process != scene.processes.end() &&
         process->second.now->command.find("nvidia-cuda-mps") != std::string::npos;
}

// All GPUs that the program may use, if each is in exclusive mode and has another program on it. If
// not, the result is empty.
std::set<std::size_t> held_by_others(const Scene& scene, const Program& program) {
  if (!scene.contexts_known || !program.users.empty()) return {};
  const bool has_tried = std::any_of(program.pids.begin(), program.pids.end(), [&](int pid) {
    return has_tried_cuda(scene.processes.at(pid));
  });
  if (!has_tried) return {};
  const std::set<std::size_t> positions = visible_to(scene, program).value_or(all_of(scene));
  const bool all_held = std::all_of(positions.begin(), positions.end(), [&](std::size_t position) {
    const std::set<int>& pids = scene.gpus.at(position).pids;
    return scene.evidence->places.at(position).compute_mode.starts_with("exclusive") &&
           !pids.empty() && std::none_of(pids.begin(), pids.end(), [&](int pid) {
             return serves_others(scene, pid);
           });
  });
  return all_held ? positions : std::set<std::size_t>();
}

// Positions of the GPUs on which the program's processes have most of their memory.
std::set<std::size_t> homes(const Scene& scene, const Program& program) {
  std::set<std::size_t> positions;
  for (const int pid : program.users) positions.insert(home_of(scene.processes.at(pid)));
  return positions;
}

// Explains how each worker gets its own GPU. The advice depends on the library that computes in the
// workers. Also adds what is unknown.
void advise_workers(const Scene& scene, const Program& program, Finding& finding) {
  const ProcessView& worker = scene.processes.at(program.users.front());
  const TreeLibrary* trees = tree_library(worker);
  if (trees)
    finding.next = {
        cat("give each worker its GPU before it starts: in the parent, env={**os.environ, "
            "\"CUDA_VISIBLE_DEVICES\": str(i)} for subprocess, and ",
            trees->parameter, " in every worker, which counts among the GPUs that the mask leaves"),
        "or lockstep batch run --gpus 1 -- python3 train.py {1} ::: A B C, which sets the mask of "
        "each job"};
  if (!trees || worker.has_library("libtorch_cuda"))
    finding.next.push_back(
        "give each worker its GPU before CUDA starts in it: in the parent, "
        "env={**os.environ, \"CUDA_VISIBLE_DEVICES\": str(i)} for subprocess; in a worker of a "
        "pool, torch.cuda.set_device(i) or device=f\"cuda:{i}\" instead of the variable");
  if (trees)
    finding.open.push_back(
        cat(trees->name, " takes the GPU that ", split(trees->parameter, '=').front(),
            " names, else usually the first that its process sees: whether all workers have the "
            "same number, or were given their mask after CUDA had started, is in their program"));
  finding.open.push_back(
      "a variable that the program sets in itself does not show in /proc/PID/environ: setting it "
      "after CUDA started has no effect, and a worker that never set it looks the same");
}

}  // namespace

Findings ranks_on_one(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    if (program.users.size() < 2 || used_by(scene, program).size() != 1) continue;
    if (is_stopped(scene, program)) continue;
    const std::set<std::string> ranks = local_ranks(scene, program);
    const std::optional<std::set<std::size_t>> visible = visible_to(scene, program);
    if (ranks.size() < 2 || !visible || visible->size() < 2) continue;
    const std::size_t home = *homes(scene, program).begin();
    Finding finding{
        .verdict = cat(program.users.size(), " ranks of ", describe(scene, program.root),
                       " are all on ", scene.gpu_name(home)),
        .confidence = Confidence::certain,
        .gpus = indexes(scene, *visible),
        .pids = program.users};
    for (const int pid : program.users) {
      finding.evidence.push_back(variable_line(scene, pid, "LOCAL_RANK"));
      finding.evidence.push_back(context_line(scene, pid, home));
    }
    finding.next = {
        "before the first CUDA call: torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])), and "
        "move model and batches to that device, not to \"cuda:0\""};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings same_gpu(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    if (program.users.size() < 2 || local_ranks(scene, program).size() > 1) continue;
    if (is_stopped(scene, program)) continue;
    const std::set<std::size_t> at = homes(scene, program);
    if (at.size() != 1 || used_by(scene, program).size() != 1) continue;
    std::set<std::size_t> allowed;
    std::set<std::string> values;
    bool is_elsewhere = false;  // the program uses other GPUs than its environment selects
    for (const int pid : program.users) {
      const ProcessView& process = scene.processes.at(pid);
      values.insert(process.inherits ? process.inherited("CUDA_VISIBLE_DEVICES").value_or("not set")
                                     : "not known");
      if (!process.allowed) continue;
      allowed.insert(process.allowed->begin(), process.allowed->end());
      is_elsewhere = is_elsewhere || !process.visible;
    }
    const std::set<std::size_t> idle = idle_of(scene, without(allowed, at), {});
    if (idle.empty()) continue;
    Finding finding{
        .verdict = cat(program.users.size(), " processes of ", describe(scene, program.root),
                       " share ", scene.gpu_name(*at.begin()), "; ", idling(scene, idle)),
        .confidence = Confidence::likely,
        .gpus = indexes(scene, idle),
        .pids = program.users};
    for (const int pid : program.users) {
      finding.evidence.push_back(variable_line(scene, pid, "CUDA_VISIBLE_DEVICES"));
      finding.evidence.push_back(context_line(scene, pid, *at.begin()));
    }
    if (is_elsewhere)
      finding.evidence.push_back(
          "their values at exec name other GPUs: the program has changed the variable since");
    else if (values.size() > 1)
      finding.evidence.push_back("their values differ, but name the same GPU");
    advise_workers(scene, program, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings stray_context(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    const std::set<std::size_t> at = homes(scene, program);
    if (program.users.size() < 2 || at.size() < 2) continue;
    std::map<std::size_t, std::vector<int>> strays;  // key: a GPU that is not the rank's own
    for (const int pid : program.users) {
      const auto& memory = scene.processes.at(pid).memory;
      const std::size_t home = home_of(scene.processes.at(pid));
      for (const auto& [position, bytes] : memory)
        if (position != home && bytes * 2 < memory.at(home)) strays[position].push_back(pid);
    }
    for (const auto& [position, pids] : strays) {
      // all other ranks must have a context there
      if (pids.size() + 1 < program.users.size()) continue;
      Finding finding{.verdict = cat("ranks of ", describe(scene, program.root),
                                     " keep a second context on ", scene.gpu_name(position)),
                      .confidence = Confidence::certain,
                      .gpus = {scene.gpus.at(position).index},
                      .pids = pids};
      for (const int pid : pids)
        for (const auto& [where, bytes] : scene.processes.at(pid).memory)
          finding.evidence.push_back(context_line(scene, pid, where));
      finding.next = {
          "torch.cuda.set_device(local_rank) before the first CUDA call; "
          "torch.load(..., map_location=device); empty_cache() and the like under that device"};
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings other_order(const Scene& scene) {
  Findings findings;
  // If a GPU does not answer, CUDA counts only the others, and numbers in both orders change.
  for (const GpuInfo& gpu : scene.evidence->gpus)
    if (!gpu.fault.empty()) return findings;
  for (const auto& [pid, process] : scene.processes) {
    if (process.inherited("CUDA_DEVICE_ORDER").value_or("") == "PCI_BUS_ID" || !process.visible)
      continue;
    const std::optional<std::string> value = process.inherited("CUDA_VISIBLE_DEVICES");
    // The GPUs that these numbers mean in nvidia-smi's order.
    std::vector<int> meant;
    try {
      for (const GpuInfo& gpu :
           visible_gpus(scene.evidence->gpus, value ? value->c_str() : nullptr))
        meant.push_back(gpu.index);
    } catch (const std::exception&) {
      continue;
    }
    std::vector<int> had;
    for (const std::size_t position : *process.visible)
      had.push_back(scene.gpus.at(position).index);
    if (had.empty() || meant == had || process.memory.empty()) continue;
    Finding finding{.verdict = cat("CUDA numbers the GPUs of ", describe(scene, pid),
                                   " otherwise than nvidia-smi: its device 0 is GPU ", had.front()),
                    .confidence = Confidence::certain,
                    .gpus = had,
                    .pids = {pid}};
    finding.evidence = {variable_line(scene, pid, "CUDA_DEVICE_ORDER"),
                        variable_line(scene, pid, "CUDA_VISIBLE_DEVICES")};
    for (const auto& [position, bytes] : process.memory)
      finding.evidence.push_back(context_line(scene, pid, position));
    finding.next = {"export CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by UUID (lockstep devices)"};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings exclusive(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    const std::set<std::size_t> held = held_by_others(scene, program);
    if (held.empty()) continue;
    Finding finding{
        .verdict = cat(describe(scene, program.root), " cannot use ", names(scene, held),
                       ": exclusive mode lets one process in, and another is there"),
        .confidence = Confidence::likely,
        .gpus = indexes(scene, held),
        .pids = program.pids};
    std::vector<std::string> numbers;
    for (const std::size_t position : held) {
      numbers.push_back(cat(scene.gpus.at(position).index));
      finding.evidence.push_back(cat("NVML: compute mode of ", scene.gpu_name(position), " is ",
                                     scene.evidence->places.at(position).compute_mode));
      for (const int pid : scene.gpus.at(position).pids)
        finding.evidence.push_back(scene.strangers.contains(pid)
                                       ? cat("NVML: pid ", pid, " is on ", scene.gpu_name(position))
                                       : context_line(scene, pid, position));
    }
    finding.next = {
        "wait for the other to end, or share the GPU through MPS (nvidia-cuda-mps-control -d)",
        cat("as root, let several in: nvidia-smi -i ", join(numbers, ","), " -c DEFAULT")};
    finding.open = {
        "whether it wants a GPU at all: one that only counts them looks the same; its own "
        "output says \"all CUDA-capable devices are busy\" where it was refused"};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings no_gpu_use(const Scene& scene) {
  constexpr double working_cores = 0.5;
  Findings findings;
  if (scene.gpus.empty()) return findings;
  for (const Program& program : scene.programs) {
    if (!program.users.empty() || !held_by_others(scene, program).empty()) continue;
    int worker = 0;
    double cores = 0;
    bool opened = false;
    for (const int pid : program.pids) {
      const ProcessView& process = scene.processes.at(pid);
      // The process may have a context that NVML does not list. This happens with MPS, and with a
      // GPU whose list is unavailable.
      const bool may_be_open = !process.now->gpu_files.empty() || !process.now->can_read("fd");
      opened = opened || (process.now->uvm_file && !process.now->gpu_files.empty()) ||
               (!scene.contexts_known && may_be_open);
      if (!process.computes()) continue;
      cores += process.cores;
      if (worker == 0 || process.cores > scene.processes.at(worker).cores) worker = pid;
    }
    if (worker == 0 || opened || cores < working_cores) continue;
    const ProcessView& process = scene.processes.at(worker);
    constexpr double young_s = 120;
    // the rule on hidden GPUs reports it in more detail
    if (process.visible && process.visible->empty()) continue;
    const bool cpu_torch =
        process.has_library("libtorch_cpu") && !process.has_library("libtorch_cuda");
    Finding finding{
        .verdict =
            cat(describe(scene, program.root), " computes on CPUs only, with ", scene.gpus.size(),
                scene.gpus.size() == 1 ? " GPU" : " GPUs", " in the machine"),
        .confidence = process.now->age_s < young_s ? Confidence::possible : Confidence::likely,
        .pids = program.pids};
    for (const GpuView& gpu : scene.gpus) finding.gpus.push_back(gpu.index);
    std::vector<std::string> libraries(process.now->libraries.begin(),
                                       process.now->libraries.end());
    finding.evidence = {cat("/proc/", worker, "/stat: ", fixed(cores, 1), " cores busy over ",
                            fixed(scene.time_s, 1), " s"),
                        cat("/proc/", worker, "/maps: ", join(libraries, ", "))};
    const bool none_open =
        process.now->can_read("fd") && process.now->gpu_files.empty() && !process.now->control_file;
    finding.evidence.push_back(none_open ? cat("/proc/", worker, "/fd: no /dev/nvidia* is open")
                                         : cat("NVML: no context of pid ", worker));
    if (cpu_torch) {
      finding.confidence = Confidence::certain;
      finding.verdict += ": its PyTorch is built without CUDA";
      finding.evidence.push_back("libtorch_cpu is mapped, libtorch_cuda is not");
      finding.next = {
          "install a build of PyTorch with CUDA; "
          "python -c \"import torch; print(torch.version.cuda)\" must not print None"};
    } else if (process.has_library("lib_lightgbm")) {
      finding.next = {
          "device_type=cuda takes a LightGBM built with CUDA, and pays only for large "
          "tables: on 100 rows 4 ms on one CPU thread became 460 ms"};
      finding.open = {"whether this table is large enough to gain from a GPU"};
    } else {
      finding.next = {"move model and data to the GPU: device = \"cuda\" in the program"};
      finding.open = {
          "whether it is about to: a program that still prepares its data looks the same; "
          "look again in a minute"};
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace lockstep::rules
