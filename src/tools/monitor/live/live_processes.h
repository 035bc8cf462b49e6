// Collects, sorts and filters the rows of processes in the live view.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"
#include "tools/monitor/live/screen.h"
#include "tools/monitor/process_info.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

// A process on a GPU. A process on several GPUs has a row for each of them.
struct ProcessRow {
  std::size_t gpu = 0;  // index of the GPU in the sample
  int index = 0;        // index of the GPU in nvidia-smi
  GpuProcess process;
  std::optional<ProcessInfo> who;
};

enum class ProcessSort { gpu, pid, user, sm, memory, age, command };
constexpr std::size_t process_sorts = static_cast<std::size_t>(ProcessSort::command) + 1;

using ProcessNames = std::map<int, std::optional<ProcessInfo>>;  // the key is the pid

std::vector<ProcessRow> process_rows(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                                     const ProcessNames& names);

// Whether the user, the command, the run or the number of the process contains `filter`. Case is
// ignored.
bool matches(const ProcessRow& row, const std::string& filter);

// Sorts the rows. SM, memory and age are in descending order, all other columns in ascending order.
// `reversed` swaps these orders. Rows with unknown values are last in either case. Equal rows are
// in the order of GPU and pid.
void sort_rows(std::vector<ProcessRow>& rows, ProcessSort by, bool reversed);

// Returns the facts of the sample about a process, as lines of any length. who: not set if the
// process does not exist in this PID namespace.
std::string process_page(const std::vector<GpuInfo>& gpus, const MonitorSample& sample, int pid,
                         const std::optional<ProcessInfo>& who);

// Returns the header and a row, each of at most `width` cells. The command is shown without the
// folder of its program. note: text at the end of the header, such as "3-14 of 30".
Line process_head(ProcessSort by, bool reversed, const std::string& note, int width);
Line process_line(const ProcessRow& row, bool selected, int width, bool utf8);

}  // namespace lockstep
