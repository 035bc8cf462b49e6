#include "tools/jobs/process/process_tree.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/files/fd.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/monitor/proc_file.h"

namespace lockstep {
namespace {

// Positions of fields in /proc/PID/stat, counted from "state". The last two are the addresses where
// the process's environment begins and ends.
constexpr std::size_t state_field = 0, parent_field = 1, start_field = 19, size_field = 20,
                      environment_field = 47, environment_end_field = 48;

ProcStat stat_of(pid_t process) {
  return parse_proc_stat(read_proc_file(cat("/proc/", process, "/stat")).text);
}

pid_t parent_of(const ProcStat& stat) {
  return stat.fields.size() > parent_field
             ? whole_number<pid_t>(stat.fields[parent_field], 0, 1 << 30).value_or(0)
             : 0;
}

bool lives(const ProcStat& stat) {
  return !stat.fields.empty() && stat.fields[state_field] != "Z" && stat.fields[state_field] != "X";
}

constexpr std::size_t mark_digits = 13;  // digits after the batch's part of the mark

std::string padded(std::int64_t number, std::size_t digits) {
  const std::string text = cat(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

UniqueFd handle_of(pid_t process) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

// Whether the kernel has pidfds, which Linux has since 5.3.
bool has_handles() {
  static const bool has = handle_of(::getpid()) || errno != ENOSYS;
  return has;
}

void signal_by(const UniqueFd& handle, pid_t process, int number) {
  if (handle)
    ::syscall(SYS_pidfd_send_signal, handle.get(), number, nullptr, 0);
  else if (!has_handles())
    ::kill(process, number);
}

// The environment of a process. During an exec it is empty for a moment, so this retries until the
// exec is complete. The last read is valid even if the exec completes between the two reads of a
// retry.
std::string environment_of(pid_t process) {
  constexpr int most_looks = 1000;
  for (int look = 1;; ++look) {
    ProcFile read = read_proc_file(cat("/proc/", process, "/environ"));
    if (read.error != 0 || !read.text.empty() || look == most_looks) return read.text;
    const ProcStat stat = stat_of(process);
    if (!lives(stat) || stat.fields.size() <= environment_end_field ||
        stat.fields[size_field] == "0")
      return {};
    const std::string& begin = stat.fields[environment_field];
    if (begin != "0" && begin == stat.fields[environment_end_field]) return {};
    system_clock().sleep_s(1e-4);
  }
}

bool matches(std::string_view value, std::string_view mark) {
  return mark.ends_with(':') ? value.starts_with(mark) : value == mark;
}

}  // namespace

std::string attempt_mark(const std::string& batch, std::int64_t attempt) {
  return cat(batch, ":", padded(attempt, mark_digits));
}

std::string worker_mark(const std::string& batch, const std::string& supervisor) {
  LOCKSTEP_CHECK(supervisor.size() + 1 == mark_digits);
  return cat(batch, ":w", supervisor);
}

std::string attempt_of(pid_t process) {
  const std::string environment = environment_of(process);
  const std::string wanted = cat(attempt_variable, "=");
  for (std::size_t place = 0; place < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', place), environment.size());
    const std::string_view variable(environment.data() + place, end - place);
    if (variable.starts_with(wanted)) return std::string(variable.substr(wanted.size()));
    place = end + 1;
  }
  return {};
}

std::vector<MarkedProcess> processes_marked(std::string_view mark) {
  LOCKSTEP_CHECK(!mark.empty() && mark != ":");
  std::vector<MarkedProcess> found;
  for (const pid_t process : process_numbers("/proc")) {
    std::string value = attempt_of(process);
    if (!value.empty() && matches(value, mark) && process != ::getpid() && lives(stat_of(process)))
      found.push_back({process, std::move(value)});
  }
  return found;
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> found;
  const ProcFile listed = read_proc_file(cat("/proc/self/task/", ::getpid(), "/children"));
  if (listed.error == 0) {
    for (const std::string& word : split(trim(listed.text), ' '))
      if (const auto number = whole_number<pid_t>(word, 1, 1 << 30)) found.push_back(*number);
    return found;
  }
  for (const pid_t process : process_numbers("/proc"))  // a kernel without that file
    if (parent_of(stat_of(process)) == ::getpid()) found.push_back(process);
  return found;
}

void reap_children(pid_t other) {
  constexpr int most_waits = 200;
  for (int wait = 0; wait < most_waits; ++wait) {
    std::vector<pid_t> left = own_children();
    std::erase_if(left, [&](pid_t child) {
      return child == other || ::waitpid(child, nullptr, WNOHANG) > 0;
    });
    if (left.empty()) return;
    system_clock().sleep_s(0.005);
  }
}

bool signal_if(pid_t process, int number, const std::function<bool()>& is_meant) {
  const UniqueFd handle = handle_of(process);
  if (!is_meant()) return false;
  signal_by(handle, process, number);
  return true;
}

void signal_marked(const MarkedProcess& process, int number) {
  LOCKSTEP_CHECK(!process.mark.empty());
  signal_if(process.pid, number, [&] { return attempt_of(process.pid) == process.mark; });
}

void signal_descendants(const std::vector<pid_t>& processes, int number,
                        const std::set<pid_t>& told) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t process : process_numbers("/proc"))
    if (const pid_t parent = parent_of(stat_of(process)); parent > 0)
      children.emplace(parent, process);
  std::vector<pid_t> all = processes;
  std::set<pid_t> seen(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [first, last] = children.equal_range(all[i]);
    for (auto child = first; child != last; ++child)
      if (seen.insert(child->second).second) all.push_back(child->second);
  }
  // The pid of a child process stays valid until it is reaped here. For other processes, this opens
  // a pidfd first and then checks that the process still has the same parent. All are opened before
  // the first is signalled, because its children would become orphans.
  std::vector<std::pair<UniqueFd, pid_t>> handles;
  const auto signal_all = [&] {
    for (const auto& [handle, process] : handles) signal_by(handle, process, number);
    handles.clear();
  };
  for (const pid_t process : all) {
    LOCKSTEP_CHECK(process > 1);
    if (told.contains(process)) continue;
    UniqueFd handle = handle_of(process);
    if (!handle && errno == EMFILE) {
      signal_all();
      handle = handle_of(process);
    }
    const pid_t parent = parent_of(stat_of(process));
    if (parent == ::getpid() || seen.contains(parent))
      handles.emplace_back(std::move(handle), process);
  }
  signal_all();
}

std::uint64_t start_ticks(pid_t process) {
  const ProcStat stat = stat_of(process);
  if (!lives(stat) || stat.fields.size() <= start_field) return 0;
  return whole_number<std::uint64_t>(stat.fields[start_field], 0, ~std::uint64_t{0} >> 1)
      .value_or(0);
}

}  // namespace lockstep
