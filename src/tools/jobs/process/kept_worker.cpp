#include "tools/jobs/process/kept_worker.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/json/json_number.h"
#include "core/base/process/pass_fd.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "tools/jobs/frames.h"
#include "tools/jobs/process/job_environment.h"
#include "tools/jobs/process/job_process.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/jobs/process/process_use.h"

namespace lockstep {
namespace {

// The variables of the environment, except variables that differ between attempts. A program may
// have read them while it loaded.
std::set<std::string_view> lasting(const std::vector<std::string>& environment) {
  std::set<std::string_view> result;
  for (const std::string& variable : environment)
    if (!is_of_attempt(variable_name(variable))) result.insert(variable);
  return result;
}

// Variables that are set for each job, even if their value is the same. An earlier job in the same
// process may have changed them.
bool is_always_given(std::string_view name) {
  return is_of_attempt(name) || name == "LOCKSTEP_DEVICE";
}

// The changes from one job's environment to another's. A null value removes a variable. Variables
// that both jobs have are not set again, because the program may have changed them while it loaded.
// Variables of an attempt are always set.
nlohmann::json environment_changes(const std::vector<std::string>& from,
                                   const std::vector<std::string>& to) {
  const std::set<std::string_view> before(from.begin(), from.end()), after(to.begin(), to.end());
  nlohmann::json result = nlohmann::json::object();
  for (const std::string& variable : from) {
    if (after.contains(variable)) continue;
    const std::string name(variable_name(variable));
    const char* const ours = std::getenv(name.c_str());
    result[name] = ours != nullptr ? nlohmann::json(ours) : nlohmann::json();
  }
  for (const std::string& variable : to) {
    const std::string_view name = variable_name(variable);
    if (before.contains(variable) && !is_always_given(name)) continue;
    result[std::string(name)] = variable.substr(name.size() + 1);
  }
  result.erase(attempt_variable);  // written in place by other code
  return result;
}

bool begins_with(const std::vector<std::string>& words, const std::vector<std::string>& first) {
  return words.size() >= first.size() && std::equal(first.begin(), first.end(), words.begin());
}

bool closes_with(const std::vector<std::string>& words, const std::vector<std::string>& last) {
  return words.size() > last.size() && std::equal(last.rbegin(), last.rend(), words.rbegin());
}

// Sets the cores of the order, or this process's own cores if the order has none.
void place_on_cores(pid_t process, const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (cores.empty()) ::sched_getaffinity(0, sizeof set, &set);
  ::sched_setaffinity(process, sizeof set, &set);
}

}  // namespace

std::pair<std::unique_ptr<KeptWorker>, UniqueFd> KeptWorker::make() {
  auto [ours, theirs] = socket_pair();
  return {std::unique_ptr<KeptWorker>(new KeptWorker(std::move(ours))), std::move(theirs)};
}

void KeptWorker::began(pid_t job, const JobOrder& order) {
  job_ = job;
  command_ = order.command;
  environment_ = order.environment;
  folder_ = order.folder;
  in_own_folder_ = order.folder == order.out;
  took_ = true;
}

bool KeptWorker::give(const JobOrder& order, int output) {
  const pid_t process = std::exchange(copy_, 0);
  std::string line;
  try {
    const auto first = order.command.begin() + static_cast<std::ptrdiff_t>(program_.size());
    line = nlohmann::json{{"arguments", std::vector<std::string>(first, order.command.end())},
                          {"environment", environment_changes(environment_, order.environment)},
                          {"folder", order.folder},
                          {"mark", order.mark},
                          {"supervisor", ::getpid()}}
               .dump();
  } catch (const nlohmann::json::type_error&) {  // a name is not valid UTF-8
    return false;
  }
  began(process, order);
  took_ = false;
  ended_.reset();
  place_on_cores(process, order.cores);
  line += '\n';
  return send_with_file(socket_.get(), line, output);
}

void KeptWorker::read() {
  constexpr std::size_t longest = 1 << 20;
  char block[1 << 14];
  while (socket_) {
    const ssize_t got = ::recv(socket_.get(), block, sizeof block, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) bytes_.append(block, static_cast<std::size_t>(got));
    if (got <= 0 || bytes_.size() > longest) {
      socket_.reset();
      copy_ = 0;
    }
  }
  for (std::size_t end = bytes_.find('\n'); end != bytes_.npos; end = bytes_.find('\n')) {
    const std::string line = bytes_.substr(0, end);
    bytes_.erase(0, end + 1);
    hear(line);
  }
}

// Handles a message from a job:
// - {"took": true}: a copy now runs the attempt.
// - {"stays": PID, "job": PID, "arguments": [...]}: the job left a copy that waits.
// - the same with "ended": CODE: the job itself waits.
//
// The sender must be the process that was started with that command. After any other message the
// worker is ignored, and its jobs are ordinary processes.
void KeptWorker::hear(const std::string& line) {
  const nlohmann::json said = parse_object(line);
  try {
    if (said.contains("took")) {
      took_ = true;
      return;
    }
    const auto arguments = said.at("arguments").get<std::vector<std::string>>();
    const bool is_the_job = whole_number_of<pid_t>(said.at("job")) == job_;
    const pid_t copy = whole_number_of<pid_t>(said.at("stays")).value_or(0);
    if (is_the_job && may_stay(copy, said) && closes_with(command_, arguments)) {
      program_.assign(command_.begin(),
                      command_.end() - static_cast<std::ptrdiff_t>(arguments.size()));
      if (socket_) copy_ = copy;
      if (copy == job_) ended_ = whole_number_of<int>(said.at("ended"));
      return;
    }
  } catch (const nlohmann::json::exception&) {
    // Handled like any other message, below.
  }
  socket_.reset();
  copy_ = 0;
}

// Whether the process may wait for the next job. A copy may. The job's own process may if it has no
// children left. If it stayed with children, they would not become orphans, by which they are
// found.
bool KeptWorker::may_stay(pid_t process, const nlohmann::json& said) const {
  constexpr int highest_code = 255;
  if (process != job_) return process > 1 && !said.contains("ended");
  return took_ && whole_number_of<int>(said.at("ended"), 0, highest_code) && !has_children(process);
}

bool KeptWorker::serves(const JobOrder& order) const {
  const bool same_folder = order.folder == folder_ || (in_own_folder_ && order.folder == order.out);
  return same_folder && begins_with(order.command, program_) &&
         lasting(environment_) == lasting(order.environment);
}

void KeptWorker::dismiss(const std::set<pid_t>& others) {
  read();  // without this, an exit may still be unread
  socket_.reset();
  const pid_t process = std::exchange(copy_, 0);
  if (process == 0 || others.contains(process)) return;
  // The pid of a child stays valid until it is reaped here.
  const std::vector<pid_t> children = own_children();
  if (std::find(children.begin(), children.end(), process) != children.end())
    ::kill(process, SIGKILL);
}

}  // namespace lockstep
