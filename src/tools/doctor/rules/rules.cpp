#include "tools/doctor/rules/rules.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/text/text.h"
#include "tools/monitor/reading_text.h"

namespace lockstep {
namespace {

constexpr std::array<Rule, 18> rules_in_order{{
    {"cannot-open", "a GPU that this machine has but this process cannot open", rules::cannot_open},
    {"lost", "a GPU that no longer answers", rules::lost},
    {"faulty", "a GPU with memory errors, or with faults that its driver noted", rules::faulty},
    {"ranks-on-one", "ranks with LOCAL_RANKs of their own, all on one GPU", rules::ranks_on_one},
    {"same-gpu", "several processes of a program on one GPU, others idle", rules::same_gpu},
    {"stray-context", "ranks with a second context on the GPU of another", rules::stray_context},
    {"narrowed", "the environment hides GPUs that idle", rules::narrowed},
    {"other-order", "CUDA's number of a GPU is not nvidia-smi's", rules::other_order},
    {"one-process-many", "one process that drives several GPUs and feeds them badly",
     rules::one_process_many},
    {"one-of-several", "a program that sees several GPUs and uses some of them",
     rules::one_of_several},
    {"exclusive", "a program that cannot get in: each GPU is another's alone", rules::exclusive},
    {"no-gpu-use", "a program that could use a GPU computes on CPUs", rules::no_gpu_use},
    {"waiting-for-others", "ranks that wait for the slowest", rules::waiting_for_others},
    {"starving", "a GPU that waits for its input", rules::starving},
    {"too-small", "work too small for a GPU: launching it takes longer than doing it",
     rules::too_small},
    {"held-back", "clocks or links below what the GPU can do", rules::held_back},
    {"other-tenant",
     "another program on the same GPU, or one alone on it that cannot be seen from here",
     rules::other_tenant},
    {"kept-memory", "memory that is held by what no longer computes", rules::kept_memory},
}};

}  // namespace

const char* to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::possible:
      return "possible";
    case Confidence::likely:
      return "likely";
    case Confidence::certain:
      return "certain";
  }
  return "";
}

std::span<const Rule> all_rules() { return rules_in_order; }

Findings at_least(const Findings& findings, Confidence confidence) {
  Findings kept;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(kept),
               [&](const Finding& finding) { return finding.confidence >= confidence; });
  return kept;
}

Findings diagnose(const Scene& scene) {
  Findings all;
  for (const Rule& rule : rules_in_order)
    for (Finding& finding : rule.look(scene)) {
      finding.rule = rule.name;
      const bool inferred = std::any_of(finding.pids.begin(), finding.pids.end(),
                                        [&](int pid) { return scene.inferred.contains(pid); });
      if (inferred) finding.confidence = rules::lowered(finding.confidence);
      all.push_back(std::move(finding));
    }
  // A rank that waits in a collective keeps a CPU thread and its GPU busy. The finding about it is
  // then only a consequence.
  const auto explained = [&](const Finding& finding) {
    return (finding.rule == "too-small" || finding.rule == "starving") &&
           std::any_of(all.begin(), all.end(), [&](const Finding& other) {
             // The straggler, which comes first, keeps its finding. The others wait for it.
             return other.rule == "waiting-for-others" &&
                    std::any_of(finding.pids.begin(), finding.pids.end(), [&](int pid) {
                      return std::find(other.pids.begin() + 1, other.pids.end(), pid) !=
                             other.pids.end();
                    });
           });
  };
  Findings kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept),
               [&](const Finding& finding) { return !explained(finding); });
  all = std::move(kept);
  std::stable_sort(all.begin(), all.end(),
                   [](const Finding& a, const Finding& b) { return a.confidence > b.confidence; });
  return all;
}

namespace rules {
namespace {

// The script with its arguments. It is "train.py --lr 1" for "/usr/bin/python3 -u train.py --lr 1",
// and "-m own.train" for "python -m own.train". "SCRIPT" if the command does not show it.
std::string script_of(const std::string& command) {
  constexpr std::size_t most = 200;
  std::vector<std::string> words = split(command, ' ');
  if (words.front().substr(words.front().rfind('/') + 1).find("python") != 0) return "SCRIPT";
  words.erase(words.begin());
  while (!words.empty() && words.front().starts_with("-") && words.front() != "-m") {
    if (words.front() == "-c") return "SCRIPT";
    words.erase(words.begin());
  }
  const std::string script = join(words, " ");
  return script.empty() || script.size() > most ? "SCRIPT" : script;
}

constexpr std::array<TreeLibrary, 3> tree_libraries{
    {{"LightGBM", "lib_lightgbm", "gpu_device_id=0"},
     {"XGBoost", "libxgboost", "device=\"cuda:0\""},
     {"CatBoost", "_catboost", "devices=\"0\""}}};

constexpr const char* calls_of_a_rank =
    "torch.distributed.init_process_group(), "
    "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])) and DistributedDataParallel(model)";

// A flag such as "--batch_size 1" that shows one sample per step. "" if the command has none.
std::string flag_of_one_sample(const std::string& command) {
  if (command.find("accum") != std::string::npos) return "";
  const std::vector<std::string> words = split(command, ' ');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const bool is_apart = equals == std::string::npos && i + 1 < words.size();
    const std::string value = is_apart ? words[i + 1] : words[i].substr(equals + 1);
    std::string name = words[i].substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    // Flags for evaluation contain "eval", "val", "valid" or "test".
    const bool trains =
        name.find("val") == std::string::npos && name.find("test") == std::string::npos;
    if (value == "1" && trains && name.ends_with("batch_size"))
      return is_apart ? cat(words[i], " 1") : words[i];
  }
  return "";
}

// Advice for a notebook. Its kernel is always a single process.
std::vector<std::string> one_process_a_gpu_of_a_notebook(const ProcessView& process,
                                                         std::size_t gpus) {
  std::vector<std::string> next{
      "a kernel is one process: write the code to a file, with %%writefile train.py as the first "
      "line of its cell, restart the kernel, which frees its GPU, and in the next cell run",
      "!lockstep launch python3 train.py"};
  if (process.has_library("libtorch") || process.has_library("libc10_cuda")) {
    next.back() += cat("; in it ", calls_of_a_rank);
    next.push_back(cat("PyTorch Lightning does that in the notebook, with Trainer(devices=", gpus,
                       ", strategy=\"ddp_notebook\"), and Accelerate with "
                       "notebook_launcher(train, num_processes=",
                       gpus, "), as long as no cell before has used a GPU"));
  }
  next.push_back(
      "independent jobs, in a cell that begins with %%bash, as ! changes the braces: "
      "lockstep batch run --gpus 1 -- python3 train.py --seed {1} ::: 1 2 3 4");
  next.push_back("`lockstep help notebook` names the guide that shows it cell by cell");
  return next;
}

}  // namespace

const TreeLibrary* tree_library(const ProcessView& process) {
  for (const TreeLibrary& one : tree_libraries)
    if (process.has_library(one.file)) return &one;
  return nullptr;
}

std::optional<std::set<std::size_t>> visible_to(const Scene& scene, const Program& program) {
  std::optional<std::set<std::size_t>> positions;
  // Only processes that compute count, because a launcher may see more GPUs than its ranks.
  for (const int pid : program.users.empty() ? program.pids : program.users) {
    const ProcessView& process = scene.processes.at(pid);
    if (!process.visible || !process.computes()) continue;
    if (!positions) positions.emplace();
    positions->insert(process.visible->begin(), process.visible->end());
  }
  return positions;
}

std::set<std::size_t> used_by(const Scene& scene, const Program& program) {
  std::set<std::size_t> positions;
  for (const int pid : program.pids)
    for (const auto& [position, bytes] : scene.processes.at(pid).memory) positions.insert(position);
  return positions;
}

std::set<std::size_t> all_of(const Scene& scene) {
  std::set<std::size_t> positions;
  for (std::size_t i = 0; i < scene.gpus.size(); ++i) positions.insert(i);
  return positions;
}

std::set<std::size_t> without(std::set<std::size_t> some, const std::set<std::size_t>& others) {
  for (const std::size_t position : others) some.erase(position);
  return some;
}

std::set<std::size_t> idle_of(const Scene& scene, const std::set<std::size_t>& positions,
                              const std::vector<int>& own) {
  constexpr double least_held_bytes = 0x1p31;  // drivers keep less than this for themselves
  std::set<std::size_t> idle;
  for (const std::size_t position : positions) {
    const GpuView& gpu = scene.gpus.at(position);
    const GpuPlace& place = scene.evidence->places.at(position);
    std::set<int> others = gpu.pids;
    for (const int pid : own) others.erase(pid);
    // The memory may belong to a process in another container, which NVML does not list.
    const bool held_unseen = gpu.pids.empty() && gpu.drawing.empty() &&
                             gpu[GpuMetric::memory_used].least() >= least_held_bytes;
    const bool can_be_taken = place.denied.empty() && place.compute_mode != "prohibited";
    if (gpu.fault.empty() && gpu.pids_known && others.empty() && gpu.is_idle() && !held_unseen &&
        can_be_taken)
      idle.insert(position);
  }
  return idle;
}

bool computes_on(const Scene& scene, const Program& program, int pid, std::size_t position) {
  const GpuView& gpu = scene.gpus.at(position);
  if (!gpu.activity().known() || gpu.is_idle()) return false;
  if (!scene.is_shared(position, program)) return true;
  const std::map<std::size_t, double>& sm = scene.processes.at(pid).sm;
  const auto own = sm.find(position);
  return own != sm.end() && own->second > 0;
}

bool is_stopped(const Scene& scene, const Program& program) {
  return !program.users.empty() &&
         std::all_of(program.users.begin(), program.users.end(),
                     [&](int pid) { return scene.processes.at(pid).is_stopped(); });
}

std::optional<std::pair<int, Launcher>> launcher_in(const Scene& scene, const Program& program) {
  std::optional<std::pair<int, Launcher>> nearest;
  std::set<int> seen;  // pids are reused, so parents may form a ring
  for (int pid = program.users.empty() ? program.root : program.users.front();
       scene.processes.contains(pid) && seen.insert(pid).second;
       pid = scene.processes.at(pid).now->parent) {
    auto launcher = launcher_of(scene.processes.at(pid).now->command);
    if (!launcher) continue;
    const bool is_known = !launcher->name.empty();  // a known launcher outranks a rank's own --gpus
    if (is_known || !nearest) nearest = {pid, *std::move(launcher)};
    if (is_known) break;
  }
  return nearest;
}

std::string names(const Scene& scene, const std::set<std::size_t>& positions) {
  std::vector<std::string> numbers;
  for (const std::size_t position : positions)
    numbers.push_back(cat(scene.gpus.at(position).index));
  return cat(numbers.size() == 1 ? "GPU " : "GPUs ", join(numbers, ", "));
}

std::string idling(const Scene& scene, const std::set<std::size_t>& positions) {
  return names(scene, positions) + (positions.size() == 1 ? " idles" : " idle");
}

std::vector<int> indexes(const Scene& scene, const std::set<std::size_t>& positions) {
  std::vector<int> list;
  for (const std::size_t position : positions) list.push_back(scene.gpus.at(position).index);
  return list;
}

std::string describe(const Scene& scene, int pid) {
  constexpr std::size_t most = 60, programs = 2;  // programs: an interpreter and its script
  std::vector<std::string> words = split(printable(scene.processes.at(pid).now->command), ' ');
  for (std::size_t i = 0; i < std::min(words.size(), programs); ++i)
    if (words[i].starts_with("/")) words[i].erase(0, words[i].rfind('/') + 1);
  std::string command = join(words, " ");
  if (command.size() > most) command = command.substr(0, most - 3) + "...";
  return cat("pid ", pid, " (", command, ")");
}

std::string load_line(const Scene& scene, std::size_t position) {
  const GpuView& gpu = scene.gpus.at(position);
  std::string text = cat(scene.gpu_name(position), ": ");
  const Load& sm = gpu[GpuMetric::sm_active];
  if (sm.known())
    text += cat("SM activity ", whole_text(sm.mean()), " % (", whole_text(sm.least()), " to ",
                whole_text(sm.most()), "), ");
  else
    text += "SM activity n/a, ";
  const Load& busy = gpu[GpuMetric::gpu_busy];
  text += busy.known() ? cat("busy ", whole_text(busy.mean()), " %") : "busy n/a";
  const Load& tensor = gpu[GpuMetric::tensor_active];
  if (tensor.known()) text += cat(", tensor ", whole_text(tensor.mean()), " %");
  const Load &power = gpu[GpuMetric::power], &limit = gpu[GpuMetric::power_limit];
  if (power.known())
    text += cat(", ", fixed(power.mean(), 0),
                limit.known() ? cat(" of ", fixed(limit.mean(), 0)) : "", " W");
  return cat(text, ", over ", fixed(scene.time_s, 1), " s");
}

std::string context_line(const Scene& scene, int pid, std::size_t position) {
  const std::uint64_t bytes = scene.processes.at(pid).memory.at(position);
  const std::string amount = format_bytes(static_cast<double>(bytes));
  const auto inferred = scene.inferred.find(pid);
  if (inferred != scene.inferred.end() && inferred->second == 0)
    return cat("NVML: ", amount, " of ", scene.gpu_name(position), " are in use; /proc/", pid,
               "/fd: nobody else here has CUDA open");
  return cat("NVML: pid ", inferred == scene.inferred.end() ? pid : inferred->second, " is on ",
             scene.gpu_name(position), bytes > 0 ? cat(" with ", amount) : "",
             inferred == scene.inferred.end()
                 ? ""
                 : cat(", a number of the host; /proc/", pid, "/fd: it has CUDA open"));
}

std::string variable_line(const Scene& scene, int pid, const std::string& name) {
  const ProcessView& process = scene.processes.at(pid);
  if (!process.inherits) return cat("/proc/", pid, "/environ cannot be read");
  const std::optional<std::string> value = process.inherited(name);
  return cat("/proc/", process.inherits->pid, "/environ: ", name,
             value ? cat("=", *value) : " is not set",
             process.inherits->pid == pid ? "" : cat("; pid ", pid, " has overwritten its own"));
}

std::string variables_line(const Scene& scene, int pid, const std::vector<std::string>& names) {
  std::vector<std::string> set;
  for (const std::string& name : names)
    if (const auto value = scene.processes.at(pid).variable(name))
      set.push_back(cat(name, "=", *value));
  return set.empty() ? "" : cat("/proc/", pid, "/environ: ", join(set, ", "));
}

std::string command_line(const Scene& scene, int pid) {
  constexpr std::size_t most = 300;
  const std::string& command = scene.processes.at(pid).now->command;
  return cat("/proc/", pid,
             "/cmdline: ", command.size() > most ? command.substr(0, most) + "..." : command);
}

std::vector<std::string> one_process_a_gpu(const Scene& scene, int pid, std::size_t gpus) {
  const ProcessView& process = scene.processes.at(pid);
  if (is_notebook_kernel(process.now->command))
    return one_process_a_gpu_of_a_notebook(process, gpus);
  if (process.has_library("libtorch") || process.has_library("libc10_cuda")) {
    std::vector<std::string> next{
        cat("torchrun --nproc-per-node=", gpus, " ", script_of(process.now->command), "; in it ",
            calls_of_a_rank),
        cat("PyTorch Lightning does that with Trainer(devices=", gpus,
            ", strategy=\"ddp\"); Hugging Face's Trainer and Accelerate do it under torchrun "
            "without a change"),
        "independent jobs: one process per GPU, each started with its CUDA_VISIBLE_DEVICES"};
    if (const std::string flag = flag_of_one_sample(process.now->command); !flag.empty())
      next.insert(next.begin() + 2,
                  cat("with ", flag,
                      " a step has one sample per GPU, so adding up gradients may "
                      "take longer than the second GPU saves: `lockstep help does a second GPU "
                      "pay` says how to see it"));
    return next;
  }
  if (const TreeLibrary* trees = tree_library(process))
    return {
        cat("one model on one GPU at a time: start one process per GPU, each with its "
            "CUDA_VISIBLE_DEVICES and ",
            trees->parameter, ", which counts among the GPUs that this leaves")};
  return {"start one process per GPU, each with its CUDA_VISIBLE_DEVICES"};
}

Confidence lowered(Confidence confidence) {
  return confidence == Confidence::certain ? Confidence::likely : Confidence::possible;
}

}  // namespace rules
}  // namespace lockstep
