#include "tools/doctor/evidence/scene.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "core/devices/gpus/cuda_order.h"
#include "tools/doctor/launcher.h"

namespace lockstep {
namespace {

constexpr double idle_percent = 1;
constexpr double same_reading_s = 0.05;  // a recording gives a reading the time of its sample

GpuView view_of(const Evidence& evidence, std::size_t position) {
  GpuView view{.position = position, .index = evidence.gpus[position].index};
  std::array<double, metric_count> newest{};
  newest.fill(-1);
  for (const MonitorSample& sample : evidence.samples) {
    const GpuSample& gpu = sample.gpus.at(position);
    view.fault = gpu.fault;
    view.pids_known = view.pids_known || gpu.processes_known;
    for (const GpuProcess& process : gpu.processes)
      (process.graphics ? view.drawing : view.pids).insert(process.pid);
    for (std::size_t m = 0; m < metric_count; ++m) {
      const Reading& reading = gpu.readings[m];
      view.loads[m].unsupported = reading.state == ReadingState::unsupported;
      if (reading.state != ReadingState::measured || reading.at_s <= newest[m] + same_reading_s)
        continue;
      newest[m] = reading.at_s;
      view.loads[m].values.push_back(reading.value);
    }
  }
  return view;
}

const ProcessEvidence* find(const ProcessSnapshot& snapshot, int pid) {
  const auto found = snapshot.processes.find(pid);
  return found == snapshot.processes.end() ? nullptr : &found->second;
}

void add_loads(ProcessView& view, const ProcessEvidence& before, double seconds) {
  const ProcessEvidence& now = *view.now;
  if (seconds <= 0 || now.age_s + 1 < before.age_s) return;  // another process has this pid now
  view.watched = true;
  view.cores = std::max(0.0, now.cpu_s - before.cpu_s) / seconds;
  if (now.io_s && before.io_s) view.io_share = std::max(0.0, *now.io_s - *before.io_s) / seconds;
  if (now.read_bytes && before.read_bytes)
    view.read_bytes_per_s = std::max(0.0, *now.read_bytes - *before.read_bytes) / seconds;
  for (const ThreadEvidence& thread : now.busiest) {
    const auto same = std::find_if(before.busiest.begin(), before.busiest.end(),
                                   [&](const auto& other) { return other.tid == thread.tid; });
    if (same == before.busiest.end()) continue;
    view.busiest.push_back(
        {thread.name, (thread.cpu_s - same->cpu_s) / seconds, thread.tid == now.pid});
  }
  std::sort(view.busiest.begin(), view.busiest.end(),
            [](const ThreadLoad& a, const ThreadLoad& b) { return a.cores > b.cores; });
}

// Whether NVML means this process when it lists this pid. False if the process has no NVIDIA device
// files open and NVML may list host pids.
bool is_named(const ProcessEvidence& process, const Evidence& evidence) {
  const bool none_open = process.gpu_files.empty() && !process.control_file && !process.uvm_file;
  return !(evidence.numbers_of_host && process.can_read("fd") && none_open);
}

// Adds the GPUs on which NVML lists the process.
void add_contexts(ProcessView& view, const Evidence& evidence) {
  if (!is_named(*view.now, evidence)) return;
  std::map<std::size_t, std::pair<double, int>> sums;
  for (const MonitorSample& sample : evidence.samples)
    for (std::size_t i = 0; i < sample.gpus.size(); ++i)
      for (const GpuProcess& one : sample.gpus[i].processes) {
        if (one.pid != view.now->pid || one.graphics) continue;
        std::uint64_t& bytes = view.memory[i];
        bytes = std::max(bytes, one.memory_bytes.value_or(0));
        if (!one.sm_percent) continue;
        sums[i].first += *one.sm_percent;
        sums[i].second += 1;
      }
  for (const auto& [position, sum] : sums) view.sm[position] = sum.first / sum.second;
}

// Whether CUDA has started in the process. A program that only uses NVML, such as a monitor, also
// opens GPU files. If GPUs have no device files, as in WSL, the loaded library alone decides.
bool has_cuda_open(const ProcessView& process, const Evidence& evidence) {
  const bool are_files =
      std::any_of(evidence.places.begin(), evidence.places.end(),
                  [](const GpuPlace& place) { return !place.device_file.empty(); });
  return process.has_library("libcuda.so") && (process.now->uvm_file || !are_files);
}

// Computes Scene::inferred, without positions. NVML lists host pids here. If their number equals
// the number of visible processes that have CUDA open, they are the same processes. If NVML lists
// nobody and one process has CUDA open, it gets the number 0. The result is empty unless all
// candidates are visible and their assignment does not matter.
std::map<int, int> infer(const Scene& scene) {
  const Evidence& evidence = *scene.evidence;
  if (!evidence.numbers_of_host || !evidence.snapshots.back().files_seen) return {};
  std::map<int, std::set<std::size_t>> named;  // host pid, and the GPUs on which it is listed
  for (const GpuView& gpu : scene.gpus)
    for (const int number : gpu.pids) named[number].insert(gpu.position);
  for (const ProcessSnapshot& snapshot : evidence.snapshots)
    for (const auto& [pid, process] : snapshot.processes)
      if (named.contains(pid) && is_named(process, evidence)) return {};
  std::vector<int> open;
  for (const auto& [pid, process] : scene.processes) {
    if (!has_cuda_open(process, evidence)) continue;
    const auto parent = scene.processes.find(process.now->parent);
    if (parent != scene.processes.end() && has_cuda_open(parent->second, evidence))
      return {};  // a forked process inherits its parent's files
    open.push_back(pid);
  }
  if (named.empty() && open.size() == 1) return {{open.front(), 0}};
  if (named.empty() || named.size() != open.size()) return {};
  const std::set<std::size_t>& first = named.begin()->second;
  const bool are_alike =
      std::all_of(named.begin(), named.end(), [&](const auto& one) { return one.second == first; });
  if (named.size() > 1 && (first.size() != 1 || !are_alike)) return {};
  std::map<int, int> inferred;
  std::transform(open.begin(), open.end(), named.begin(), std::inserter(inferred, inferred.end()),
                 [](int pid, const auto& number) { return std::pair(pid, number.first); });
  return inferred;
}

// The GPUs on which NVML lists the process under the pid `number`, with the bytes in use. If
// `number` is 0, returns all GPUs with memory in use. Bytes are 0 if unknown. Empty if the process
// cannot see these GPUs, or has not opened their files.
std::map<std::size_t, std::uint64_t> place_inferred(const Scene& scene, int pid, int number) {
  constexpr double least_context_bytes = 100 << 20;  // smaller contexts are not known
  constexpr double most_bytes = 0x1p62;              // only damaged recordings have more
  const Evidence& evidence = *scene.evidence;
  const ProcessView& process = scene.processes.at(pid);
  std::map<std::size_t, std::uint64_t> memory;
  for (const MonitorSample& sample : evidence.samples)
    for (std::size_t i = 0; i < sample.gpus.size(); ++i) {
      if (!sample.gpus[i].fault.empty()) continue;
      const Reading& used = sample.gpus[i][GpuMetric::memory_used];
      for (const GpuProcess& one : sample.gpus[i].processes)
        if (one.pid == number && !one.graphics)
          // With several inferred processes, it is unknown which of them holds the memory.
          memory[i] = std::max(memory[i], scene.inferred.size() == 1 ? one.memory_bytes.value_or(0)
                                                                     : std::uint64_t{0});
      if (number != 0) continue;
      if (used.state != ReadingState::measured) return {};
      if (used.value >= least_context_bytes)
        memory[i] =
            std::max(memory[i], static_cast<std::uint64_t>(std::min(used.value, most_bytes)));
    }
  for (const auto& [position, bytes] : memory) {
    const std::string& file = evidence.places[position].device_file;
    const auto is_it = [&](int minor) { return file == cat("/dev/nvidia", minor); };
    const std::set<int>& open = process.now->gpu_files;
    const bool may_be = std::any_of(open.begin(), open.end(), is_it) &&
                        (!process.visible || std::count(process.visible->begin(),
                                                        process.visible->end(), position) > 0);
    if (!may_be) return {};
  }
  return memory;
}

// Adds all inferred facts, or none of them.
void add_inferred(Scene& scene) {
  scene.inferred = infer(scene);
  std::map<int, std::map<std::size_t, std::uint64_t>> all;
  for (const auto& [pid, number] : scene.inferred) {
    all[pid] = place_inferred(scene, pid, number);
    if (!all[pid].empty()) continue;
    scene.inferred.clear();
    return;
  }
  for (auto& [pid, memory] : all) {
    for (const auto& [position, bytes] : memory) {
      scene.gpus[position].pids.erase(scene.inferred.at(pid));
      scene.gpus[position].pids.insert(pid);
    }
    scene.processes.at(pid).memory = std::move(memory);
  }
}

const ProcessEvidence* environment_of(const ProcessEvidence& process,
                                      const ProcessSnapshot& snapshot) {
  const ProcessEvidence* at = &process;
  for (std::size_t guard = 0; at && guard <= snapshot.processes.size(); ++guard) {
    if (at->can_read("environ")) return at;
    if (!at->has_overwritten_environment()) return nullptr;
    at = find(snapshot, at->parent);
  }
  return nullptr;
}

// Explains why the process's environment at exec does not show the GPUs that the process sees. ""
// if it shows them.
std::string why_not_visible(const ProcessView& view, const Evidence& evidence) {
  if (view.now->has_overwritten_environment() && !view.inherits)
    return "it has overwritten its environment, with a title for example";
  if (!view.inherits) return "its environment cannot be read";
  if (view.now->elsewhere) return "it runs in another mount namespace, as in a container";
  for (const char* name : {"NVIDIA_VISIBLE_DEVICES", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    const auto own = evidence.environment.find(name);
    const std::optional<std::string> its = view.inherited(name);
    if (its && (own == evidence.environment.end() || own->second != *its))
      return cat("it has an allotment of its own (", name, "=", *its, ")");
  }
  if (view.inherited("CUDA_VISIBLE_DEVICES").value_or("").find("MIG-") != std::string::npos)
    return "it is given MIG instances";
  for (const GpuPlace& place : evidence.places)
    if (place.mig.value_or(false)) return "there are MIG instances";
  return "";
}

// Positions of the GPUs in CUDA's order without a mask. Nothing if the order is unknown.
std::optional<std::vector<std::size_t>> unmasked_order(const ProcessView& view,
                                                       const Evidence& evidence) {
  const std::optional<std::string> order = view.inherited("CUDA_DEVICE_ORDER");
  std::vector<GpuInfo> there;  // CUDA does not count GPUs that do not answer
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < evidence.gpus.size(); ++i) {
    if (!evidence.gpus[i].fault.empty()) continue;
    there.push_back(evidence.gpus[i]);
    at.push_back(i);
  }
  const CudaOrder cuda = cuda_order(there, nullptr, order ? order->c_str() : nullptr,
                                    [&] { return evidence.cuda_fastest; });
  std::map<int, std::size_t> by_ordinal;
  for (std::size_t i = 0; i < cuda.ordinals.size(); ++i)
    if (cuda.ordinals[i]) by_ordinal[*cuda.ordinals[i]] = at[i];
  if (!cuda.known || by_ordinal.size() != there.size()) return std::nullopt;
  std::vector<std::size_t> positions;
  for (const auto& [ordinal, position] : by_ordinal) positions.push_back(position);
  return positions;
}

void add_visible(ProcessView& view, const Evidence& evidence) {
  view.why_not_visible = why_not_visible(view, evidence);
  if (!view.why_not_visible.empty()) return;
  const auto all = unmasked_order(view, evidence);
  // A mask counts GPUs in this order.
  std::vector<GpuInfo> counted;
  for (const std::size_t position : all.value_or(std::vector<std::size_t>()))
    counted.push_back(evidence.gpus[position]);
  const std::optional<std::string> mask = view.inherited("CUDA_VISIBLE_DEVICES");
  const CudaOrder cuda = cuda_order(counted, mask ? mask->c_str() : nullptr, "PCI_BUS_ID",
                                    [] { return std::nullopt; });
  if (!all || !cuda.known) {
    view.why_not_visible = "CUDA's order of these GPUs is not known";
    return;
  }
  std::map<int, std::size_t> by_ordinal;
  for (std::size_t i = 0; i < counted.size(); ++i)
    if (cuda.ordinals[i]) by_ordinal[*cuda.ordinals[i]] = (*all)[i];
  std::vector<std::size_t> visible;
  for (const auto& [ordinal, position] : by_ordinal) visible.push_back(position);
  view.allowed = visible;
  for (const auto& [position, bytes] : view.memory)
    if (std::find(visible.begin(), visible.end(), position) == visible.end()) {
      view.why_not_visible =
          "it is on a GPU that its environment at exec hides: it changed that itself";
      return;
    }
  view.visible = std::move(visible);
}

// Whether both are ranks of one distributed job whose launcher is gone.
bool same_world(const ProcessEvidence& a, const ProcessEvidence& b) {
  const auto same = [&](const char* name) {
    const auto first = a.environment.find(name), second = b.environment.find(name);
    const bool known = first != a.environment.end();
    return known == (second != b.environment.end()) && (!known || first->second == second->second);
  };
  return a.environment.contains("MASTER_PORT") && a.environment.contains("RANK") &&
         b.environment.contains("RANK") && same("MASTER_PORT") && same("MASTER_ADDR") &&
         same("WORLD_SIZE") && a.elsewhere == b.elsewhere;
}

bool runs_the_same(const ProcessEvidence& a, const ProcessEvidence& b) {
  const std::vector<std::string> first = split(a.command, ' '), second = split(b.command, ' ');
  return first.size() > 1 && second.size() > 1 && first[0] == second[0] && first[1] == second[1];
}

// Groups processes into programs. The root of a program is its first ancestor that was also
// observed. A notebook server is not a root, because each notebook is a separate program. Siblings
// that run the same command belong together.
std::vector<Program> programs_of(const Scene& scene) {
  std::map<int, int> roots;
  for (const auto& [pid, view] : scene.processes) {
    std::set<int> above{pid};
    int root = pid;
    for (;;) {
      const auto up = scene.processes.find(scene.processes.at(root).now->parent);
      if (up == scene.processes.end() || starts_notebooks(up->second.now->command)) break;
      root = up->first;
      if (above.insert(root).second) continue;
      root = *above.begin();  // the parents form a circle in a damaged recording
      break;
    }
    roots[pid] = root;
  }
  std::map<int, int> joined;  // key: root; value: root of the first sibling
  for (const auto& [pid, root] : roots) {
    if (pid != root) continue;
    joined[pid] = pid;
    const ProcessEvidence& one = *scene.processes.at(pid).now;
    for (const auto& [other, first] : joined) {
      const ProcessEvidence& brother = *scene.processes.at(other).now;
      const bool together = brother.parent == one.parent && brother.parent > 1 &&
                            brother.group == one.group && runs_the_same(brother, one);
      if (other == pid || !(together || same_world(brother, one))) continue;
      joined[pid] = first;
      break;
    }
  }
  std::map<int, Program> programs;
  for (const auto& [pid, root] : roots) {
    Program& program = programs[joined.at(root)];
    program.root = joined.at(root);
    program.pids.push_back(pid);
    if (!scene.processes.at(pid).memory.empty()) program.users.push_back(pid);
  }
  std::vector<Program> list;
  for (auto& [root, program] : programs) list.push_back(std::move(program));
  return list;
}

}  // namespace

double Load::mean() const {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Load::least() const {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

double Load::most() const {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::string Load::mean_text(int digits) const { return known() ? fixed(mean(), digits) : "n/a"; }

std::string Load::most_text(int digits) const { return known() ? fixed(most(), digits) : "n/a"; }

double Load::share(double from, double to) const {
  if (values.empty()) return 0;
  const auto count = std::count_if(values.begin(), values.end(),
                                   [&](double value) { return value >= from && value < to; });
  return static_cast<double>(count) / static_cast<double>(values.size());
}

const Load& GpuView::activity() const {
  return has_sm() ? (*this)[GpuMetric::sm_active] : (*this)[GpuMetric::gpu_busy];
}

bool GpuView::is_idle() const {
  return activity().known() && activity().most() < idle_percent &&
         (*this)[GpuMetric::gpu_busy].most() < idle_percent;
}

std::optional<std::string> ProcessView::variable(const std::string& name) const {
  const auto found = now->environment.find(name);
  return found == now->environment.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> ProcessView::inherited(const std::string& name) const {
  if (!inherits) return std::nullopt;
  const auto found = inherits->environment.find(name);
  return found == inherits->environment.end() ? std::nullopt : std::optional(found->second);
}

bool ProcessView::has_library(const std::string& beginning) const {
  return std::any_of(now->libraries.begin(), now->libraries.end(),
                     [&](const std::string& name) { return name.starts_with(beginning); });
}

bool ProcessView::computes() const { return !now->libraries.empty() || !memory.empty(); }

std::optional<int> Scene::process_named(int number) const {
  for (const auto& [pid, named] : inferred)
    if (named == number) return pid;
  const bool is_here = processes.contains(number) && !strangers.contains(number);
  return is_here ? std::optional(number) : std::nullopt;
}

const Program& Scene::program_of(int pid) const {
  const auto found = std::find_if(programs.begin(), programs.end(), [&](const Program& program) {
    return std::binary_search(program.pids.begin(), program.pids.end(), pid);
  });
  LOCKSTEP_CHECK(found != programs.end());
  return *found;
}

bool Scene::is_shared(std::size_t position, const Program& program) const {
  const std::set<int>& pids = gpus.at(position).pids;
  return std::any_of(pids.begin(), pids.end(), [&](int pid) {
    return strangers.contains(pid) ||
           !std::binary_search(program.pids.begin(), program.pids.end(), pid);
  });
}

std::string Scene::gpu_name(std::size_t position) const {
  return cat("GPU ", gpus.at(position).index);
}

Scene make_scene(const Evidence& evidence) {
  Scene scene{.evidence = &evidence};
  for (std::size_t i = 0; i < evidence.gpus.size(); ++i) scene.gpus.push_back(view_of(evidence, i));
  if (!evidence.samples.empty())
    scene.time_s = evidence.samples.back().at_s - evidence.samples.front().at_s;
  if (!evidence.samples.empty()) scene.at_s = evidence.samples.back().at_s;
  if (!evidence.snapshots.empty()) {
    const ProcessSnapshot &first = evidence.snapshots.front(), &last = evidence.snapshots.back();
    scene.parents = last.parents;
    for (const auto& [pid, now] : last.processes) {
      scene.parents.emplace(pid, now.parent);
      ProcessView view{.now = &now, .inherits = environment_of(now, last)};
      if (const ProcessEvidence* before = find(first, pid))
        add_loads(view, *before, last.at_s - first.at_s);
      add_contexts(view, evidence);
      add_visible(view, evidence);
      scene.processes.emplace(pid, std::move(view));
    }
  }
  const auto tells = [](const GpuView& gpu) { return gpu.pids_known || !gpu.fault.empty(); };
  scene.contexts_known =
      !scene.gpus.empty() && std::all_of(scene.gpus.begin(), scene.gpus.end(), tells);
  if (scene.contexts_known && !evidence.snapshots.empty()) add_inferred(scene);
  for (const GpuView& gpu : scene.gpus) {
    for (const int pid : gpu.pids)
      if (!scene.processes.contains(pid) || !is_named(*scene.processes.at(pid).now, evidence))
        scene.strangers.insert(pid);
  }
  // NVML lists only unknown pids, although processes here have the device files open. These pids
  // are therefore host pids.
  const bool some_here = std::any_of(scene.processes.begin(), scene.processes.end(),
                                     [](const auto& one) { return !one.second.memory.empty(); });
  const bool some_open =
      std::any_of(scene.processes.begin(), scene.processes.end(),
                  [&](const auto& one) { return has_cuda_open(one.second, evidence); });
  const bool some_told = std::any_of(scene.gpus.begin(), scene.gpus.end(),
                                     [](const GpuView& gpu) { return gpu.pids_known; });
  scene.names_nobody = some_told && some_open && !some_here;
  if (scene.names_nobody) scene.contexts_known = false;
  scene.programs = programs_of(scene);
  return scene;
}

}  // namespace lockstep
