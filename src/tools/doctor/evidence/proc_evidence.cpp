// Reads /proc for the processes that use a GPU, or that should.
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <sstream>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/doctor/evidence/evidence.h"
#include "tools/doctor/launcher.h"
#include "tools/monitor/proc_file.h"
#include "tools/monitor/process_info.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_threads_kept = 64;

// Libraries that show the use of GPUs, by the beginning of their file names.
constexpr std::array<const char*, 22> telling_libraries{
    "libcuda.so",       "libcudart",
    "libnccl.so",       "libtorch_cpu.so",
    "libtorch_cuda.so", "libtorch_python",
    "libtorch.so",      "libc10_cuda.so",
    "lib_lightgbm",     "libxgboost",
    "_catboost",        "libtensorflow_framework",
    "libtensorflow_cc", "_pywrap_tensorflow",
    "xla_cuda_plugin",  "xla_extension",
    "libcupy",          "cupy_backends",
    "libonnxruntime",   "libggml-cuda",
    "liblockstep-cuda", "libgloo"};

constexpr std::array<const char*, 38> telling_variables{"CUDA_VISIBLE_DEVICES",
                                                        "CUDA_DEVICE_ORDER",
                                                        "NVIDIA_VISIBLE_DEVICES",
                                                        "GPU_DEVICE_ORDINAL",
                                                        "LOCAL_RANK",
                                                        "RANK",
                                                        "WORLD_SIZE",
                                                        "LOCAL_WORLD_SIZE",
                                                        "GROUP_RANK",
                                                        "MASTER_ADDR",
                                                        "MASTER_PORT",
                                                        "OMP_NUM_THREADS",
                                                        "MKL_NUM_THREADS",
                                                        "CUDA_LAUNCH_BLOCKING",
                                                        "CUDA_MPS_PIPE_DIRECTORY",
                                                        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                                        "PYTORCH_CUDA_ALLOC_CONF",
                                                        "PYTORCH_ALLOC_CONF",
                                                        "CUDA_MODULE_LOADING",
                                                        "SLURM_JOB_ID",
                                                        "SLURM_PROCID",
                                                        "SLURM_LOCALID",
                                                        "SLURM_STEP_GPUS",
                                                        "SLURM_JOB_GPUS",
                                                        "SLURM_GPUS_ON_NODE",
                                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                                        "OMPI_COMM_WORLD_LOCAL_SIZE",
                                                        "OMPI_COMM_WORLD_SIZE",
                                                        "MPI_LOCALNRANKS",
                                                        "PMI_SIZE",
                                                        "PBS_JOBID",
                                                        "LSB_JOBID",
                                                        "PMI_RANK",
                                                        "JAX_PLATFORMS",
                                                        "LOCKSTEP_DEVICE",
                                                        "TF_FORCE_GPU_ALLOW_GROWTH",
                                                        "NCCL_P2P_DISABLE",
                                                        "NCCL_DEBUG"};

// The text of a file in /proc/PID. If it cannot be read, the reason is noted.
std::string noted(const fs::path& folder, const std::string& what, ProcessEvidence& process) {
  ProcFile file = read_proc_file(folder / what);
  if (file.error != 0) process.unreadable.push_back(cat(what, ": ", errno_text(file.error)));
  return std::move(file.text);
}

// Whether the text begins like an environment: "NAME=". A program that sets its title overwrites
// its environment, as vLLM does with setproctitle. The rest is then not its original environment.
bool is_environment(const std::string& text) {
  const std::size_t equals = text.find_first_of(std::string_view("= \t\n\0", 5));
  const bool named =
      !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_');
  return named && equals != text.npos && text[equals] == '=';
}

void read_environment(const fs::path& folder, ProcessEvidence& process) {
  const std::string text = noted(folder, "environ", process);
  if (process.can_read("environ") && !is_environment(text)) {
    process.unreadable.push_back(cat("environ: ", overwritten_environment));
    return;
  }
  for (const std::string& entry : split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos || !is_telling_variable(entry.substr(0, equals))) continue;
    process.environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
}

void read_libraries(const fs::path& folder, ProcessEvidence& process) {
  std::istringstream lines(noted(folder, "maps", process));
  std::string line, before;
  while (std::getline(lines, line)) {
    const std::size_t slash = line.rfind('/');
    if (slash == line.npos) continue;
    const std::string name = line.substr(slash + 1);
    if (name == before) continue;
    before = name;
    for (const char* telling : telling_libraries)
      if (name.starts_with(telling)) process.libraries.insert(name);
  }
}

void read_files(const fs::path& folder, ProcessEvidence& process) {
  DIR* files = opendir((folder / "fd").c_str());
  if (!files) {
    process.unreadable.push_back(cat("fd: ", errno_text(errno)));
    return;
  }
  while (const dirent* entry = readdir(files)) {
    std::array<char, 256> target{};
    const ssize_t length =
        readlinkat(dirfd(files), entry->d_name, target.data(), target.size() - 1);
    if (length <= 0) continue;
    const std::string_view name(target.data(), static_cast<std::size_t>(length));
    constexpr std::string_view gpu = "/dev/nvidia";
    if (name == "/dev/nvidiactl") process.control_file = true;
    if (name == "/dev/nvidia-uvm") process.uvm_file = true;
    if (!name.starts_with(gpu) || name.size() == gpu.size()) continue;
    if (const auto number = whole_number<int>(name.substr(gpu.size())))
      process.gpu_files.insert(*number);
  }
  closedir(files);
}

void read_threads(const fs::path& folder, ProcessEvidence& process) {
  for (const int tid : process_numbers(folder / "task")) {
    const ProcStat stat =
        parse_proc_stat(read_proc_file(folder / "task" / std::to_string(tid) / "stat").text);
    if (stat.fields.size() < 13) continue;
    process.busiest.push_back({.tid = tid,
                               .name = stat.name,
                               .cpu_s = ticks_s(stat.fields[11]) + ticks_s(stat.fields[12])});
  }
  std::sort(process.busiest.begin(), process.busiest.end(),
            [](const ThreadEvidence& a, const ThreadEvidence& b) { return a.cpu_s > b.cpu_s; });
  process.threads = static_cast<int>(process.busiest.size());
  if (process.busiest.size() > most_threads_kept) process.busiest.resize(most_threads_kept);
}

std::optional<double> bytes_read(const fs::path& folder) {
  std::istringstream words(read_proc_file(folder / "io").text);
  std::string word;
  double bytes = 0;
  while (words >> word)
    if (word == "rchar:" && words >> bytes) return bytes;
  return std::nullopt;
}

fs::path mount_namespace_of(const fs::path& folder) {
  std::error_code ignored;
  return fs::read_symlink(folder / "ns/mnt", ignored);
}

// Facts that are the same for all processes.
struct ProcFolder {
  explicit ProcFolder(const fs::path& root)
      : path(root / "proc"),
        mount_namespace(mount_namespace_of(path / "self")),
        counts_io(trim(read_proc_file(path / "sys/kernel/task_delayacct").text) == "1") {}
  fs::path path, mount_namespace;
  bool counts_io;  // without delay accounting, the field of a process is always 0
};

std::optional<ProcessEvidence> process_of(int pid, const ProcFolder& proc) {
  const fs::path folder = proc.path / std::to_string(pid);
  const std::vector<std::string> fields =
      parse_proc_stat(read_proc_file(folder / "stat").text).fields;
  const std::optional<ProcessInfo> who = process_info(pid, proc.path);
  if (fields.size() < 20 || !who) return std::nullopt;
  ProcessEvidence process{.pid = pid,
                          .parent = whole_number<int>(fields[1]).value_or(0),
                          .group = whole_number<int>(fields[2]).value_or(0),
                          .session = whole_number<int>(fields[3]).value_or(0),
                          .user = who->user,
                          .command = who->command,
                          .state = fields[0].empty() ? '?' : fields[0][0],
                          .age_s = who->age_s,
                          .cpu_s = ticks_s(fields[11]) + ticks_s(fields[12])};
  if (proc.counts_io && fields.size() > 39) process.io_s = ticks_s(fields[39]);
  const fs::path there = mount_namespace_of(folder);
  process.elsewhere =
      !proc.mount_namespace.empty() && !there.empty() && there != proc.mount_namespace;
  process.read_bytes = bytes_read(folder);
  read_files(folder, process);
  read_libraries(folder, process);
  read_environment(folder, process);
  return process;
}

// The program's name, for example "python3" for "/usr/bin/python3 train.py".
std::string program_of(const ProcessEvidence& process) {
  return fs::path(process.command.substr(0, process.command.find(' '))).filename().string();
}

// Whether the process has ended. A process that /proc hides (hidepid) still exists.
bool is_gone(int pid, const fs::path& proc) {
  if (proc == "/proc") return kill(pid, 0) != 0 && errno == ESRCH;
  std::error_code ignored;
  return !fs::exists(proc / std::to_string(pid), ignored);
}

}  // namespace

bool ProcessEvidence::can_read(const std::string& what) const {
  return std::none_of(unreadable.begin(), unreadable.end(),
                      [&](const std::string& one) { return one.starts_with(what + ":"); });
}

bool ProcessEvidence::has_overwritten_environment() const {
  return std::find(unreadable.begin(), unreadable.end(),
                   cat("environ: ", overwritten_environment)) != unreadable.end();
}

bool is_telling_variable(const std::string& name) {
  return std::find(telling_variables.begin(), telling_variables.end(), name) !=
         telling_variables.end();
}

std::set<int> pids_of(const MonitorSample& sample) {
  std::set<int> pids;
  for (const GpuSample& gpu : sample.gpus)
    for (const GpuProcess& process : gpu.processes) pids.insert(process.pid);
  return pids;
}

ProcessSnapshot snapshot_of(double at_s, const std::set<int>& pids, const fs::path& root) {
  const ProcFolder proc(root);
  ProcessSnapshot snapshot{.at_s = at_s, .files_seen = true};
  std::map<int, ProcessEvidence> others;
  std::map<int, int> parents;
  for (const int pid : process_numbers(proc.path)) {
    if (pid == getpid() && root == "/") continue;
    std::optional<ProcessEvidence> process = process_of(pid, proc);
    if (!process) continue;
    parents[pid] = process->parent;
    std::error_code ignored;
    if (!process->can_read("fd") && fs::exists(proc.path / std::to_string(pid), ignored))
      snapshot.files_seen = false;
    // A program that only uses NVML, such as a monitor, also opens GPU files. CUDA opens the file
    // of unified memory too.
    const bool tells = process->uvm_file || !process->libraries.empty() || pids.contains(pid);
    (tells ? snapshot.processes : others).emplace(pid, std::move(*process));
  }
  for (const int pid : pids)
    if (!snapshot.processes.contains(pid) && is_gone(pid, proc.path)) snapshot.gone.insert(pid);
  // Adds a parent that started workers but has loaded no library itself. The parent is recognized
  // by the same program name, such as python.
  std::vector<int> starters;
  for (const auto& [pid, process] : snapshot.processes) {
    const auto parent = others.find(process.parent);
    if (parent != others.end() && program_of(parent->second) == program_of(process))
      starters.push_back(process.parent);
  }
  for (const int pid : starters)
    if (others.contains(pid)) snapshot.processes.insert(others.extract(pid));
  // Adds launchers of these processes. There may be scripts between a launcher and its rank, and
  // these are added too.
  std::vector<int> above;
  for (const auto& [pid, process] : snapshot.processes) {
    constexpr std::size_t most_up = 8;
    std::vector<int> way;
    for (auto up = others.find(process.parent); up != others.end() && way.size() < most_up;
         up = others.find(up->second.parent)) {
      way.push_back(up->first);
      if (!launcher_of(up->second.command)) continue;
      above.insert(above.end(), way.begin(), way.end());
      break;
    }
  }
  for (const int pid : above)
    if (others.contains(pid)) snapshot.processes.insert(others.extract(pid));
  // Adds the descendants, because child processes prepare data for their parents.
  for (bool grew = true; grew;) {
    grew = false;
    for (auto one = others.begin(); one != others.end();) {
      const bool feeds = snapshot.processes.contains(one->second.parent);
      if (feeds) snapshot.processes.insert(others.extract(one++));
      if (!feeds) ++one;
      grew = grew || feeds;
    }
  }
  for (const auto& [pid, process] : snapshot.processes)
    for (int one = pid; parents.contains(one) && !snapshot.parents.contains(one);
         one = parents[one])
      snapshot.parents[one] = parents[one];
  for (auto& [pid, process] : snapshot.processes)
    read_threads(proc.path / std::to_string(pid), process);
  return snapshot;
}

}  // namespace lockstep
