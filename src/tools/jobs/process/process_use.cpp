#include "tools/jobs/process/process_use.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/files/fd.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/monitor/proc_file.h"

namespace lockstep {

double cpu_s_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  double all = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  constexpr std::size_t of_children = 13;  // position of cutime, followed by cstime
  const ProcStat stat = parse_proc_stat(read_proc_file(cat("/proc/", process, "/stat")).text);
  if (stat.fields.size() > of_children + 1)
    all += ticks_s(stat.fields[of_children]) + ticks_s(stat.fields[of_children + 1]);
  return all;
}

std::int64_t peak_memory_bytes(pid_t process) {
  constexpr std::string_view field = "VmHWM:";
  const std::string status = read_proc_file(cat("/proc/", process, "/status")).text;
  const std::size_t begin = status.find(field), end = status.find(" kB", begin);
  if (begin == status.npos || end == status.npos) return 0;
  const std::string number = trim(status.substr(begin + field.size(), end - begin - field.size()));
  return whole_number<std::int64_t>(number, 0, std::int64_t{1} << 50).value_or(0) * 1024;
}

void forget_peak(pid_t process) {
  const UniqueFd file(::open(cat("/proc/", process, "/clear_refs").c_str(), O_WRONLY | O_CLOEXEC));
  constexpr char peak[] = "5";
  if (file) [[maybe_unused]]
    const ssize_t written = ::write(file.get(), peak, 1);
}

bool has_children(pid_t process) {
  const std::string tasks = cat("/proc/", process, "/task");
  for (const int task : process_numbers(tasks)) {
    const ProcFile listed = read_proc_file(cat(tasks, "/", task, "/children"));
    // also true if it cannot be read
    if (listed.error != 0 || !trim(listed.text).empty()) return true;
  }
  return false;
}

}  // namespace lockstep
