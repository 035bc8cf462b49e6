// Rows of processes in the live view: collected, sorted, filtered.
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

// A process on a GPU. A process that uses several has a row on each.
struct ProcessRow {
  std::size_t gpu = 0;  // position in the sample
  int index = 0;        // of the GPU, as in nvidia-smi
  GpuProcess process;
  std::optional<ProcessInfo> who;
};

enum class ProcessSort { gpu, pid, user, sm, memory, age, command };
constexpr std::size_t process_sorts = static_cast<std::size_t>(ProcessSort::command) + 1;

using ProcessNames = std::map<int, std::optional<ProcessInfo>>;  // by pid

std::vector<ProcessRow> process_rows(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                                     const ProcessNames& names);

// Whether user, command, run or number of the process contain `filter`, ignoring case.
bool matches(const ProcessRow& row, const std::string& filter);

// Sorts SM, memory and age in descending order, the others in ascending order; `reversed` swaps
// these orders. Unknown values come last either way. Equal rows stay in the order of GPU and PID.
void sort_rows(std::vector<ProcessRow>& rows, ProcessSort by, bool reversed);

// The sample's facts about a process, in lines of any length. who: nothing if it is not visible.
std::string process_page(const std::vector<GpuInfo>& gpus, const MonitorSample& sample, int pid,
                         const std::optional<ProcessInfo>& who);

// At most `width` cells; the command is shown without the folder of its program. note: "3-14 of
// 30", at the end of the header.
Line process_head(ProcessSort by, bool reversed, const std::string& note, int width);
Line process_line(const ProcessRow& row, bool selected, int width, bool utf8);

}  // namespace lockstep
