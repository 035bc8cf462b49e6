// The rows of processes of the live view: found, sorted, filtered.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "devices/gpu_probe.h"
#include "monitor/process_info.h"
#include "monitor/sampler.h"
#include "monitor/screen.h"

namespace lockstep {

// A process on a GPU; one that uses several has a row on each.
struct ProcessRow {
  std::size_t gpu = 0;  // position in the sample
  int index = 0;        // of the GPU, as nvidia-smi counts
  GpuProcess process;
  std::optional<ProcessInfo> who;
};

enum class ProcessSort { gpu, pid, user, sm, memory, age, command };
constexpr std::size_t process_sorts = static_cast<std::size_t>(ProcessSort::command) + 1;

using ProcessNames = std::map<int, std::optional<ProcessInfo>>;  // by pid

std::vector<ProcessRow> process_rows(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                                     const ProcessNames& names);

// Whether user, command, run or number of the process hold `filter`; case does not matter.
bool matches(const ProcessRow& row, const std::string& filter);

// SM, memory and age from the largest on, the others from the smallest; reversed the other way
// round. What is not known is last both ways; equals stay in the order of GPU and PID.
void sort_rows(std::vector<ProcessRow>& rows, ProcessSort by, bool reversed);

// What the sample says of a process, in lines of any length. who: nothing where it cannot be seen.
std::string process_page(const std::vector<GpuInfo>& gpus, const MonitorSample& sample, int pid,
                         const std::optional<ProcessInfo>& who);

// Of `width` cells at most; the command stands without the folder of its program. note: at the end
// of the head, "3-14 of 30".
Line process_head(ProcessSort by, bool reversed, const std::string& note, int width);
Line process_line(const ProcessRow& row, bool selected, int width, bool utf8);

}  // namespace lockstep
