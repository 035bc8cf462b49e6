#include "tools/jobs/process/next_job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json/json_number.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/jobs/frames.h"
#include "tools/jobs/process/kept_worker.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/monitor/proc_file.h"

namespace lockstep {
namespace {

bool has_one_thread() { return process_numbers("/proc/self/task").size() == 1; }

void print_to_file(const UniqueFd& file) {
  ::dup2(file.get(), STDOUT_FILENO);
  ::dup2(file.get(), STDERR_FILENO);
}

// Stops writing to the log of a job that is over or continues in another process.
void print_nowhere() { print_to_file(UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC))); }

void apply_environment(const nlohmann::json& changes) {
  for (const auto& [name, value] : changes.items())
    if (value.is_null())
      ::unsetenv(name.c_str());
    else
      ::setenv(name.c_str(), value.get<std::string>().c_str(), 1);
}

bool has_no_children() {
  siginfo_t ignored{};
  return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

bool is_stream_socket(int fd) {
  int type = 0;
  socklen_t bytes = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM;
}

}  // namespace

NextJob::NextJob() {
  const char* const found = std::getenv(worker_variable);
  mark_ = std::getenv(attempt_variable);
  if (found == nullptr || mark_ == nullptr) return;
  const std::string text = found;
  ::unsetenv(worker_variable);
  const std::size_t space = text.find(' ');
  const auto fd = whole_number<int>(text.substr(0, space), STDERR_FILENO + 1, 1 << 20);
  // the socket was closed before this program started
  if (!fd || space == text.npos || !is_stream_socket(*fd)) return;
  ::fcntl(*fd, F_SETFD, FD_CLOEXEC);
  idle_mark_ = text.substr(space + 1);
  if (idle_mark_.size() == std::strlen(mark_)) socket_.reset(*fd);
}

std::optional<std::vector<std::string>> NextJob::leave_copy(
    const std::vector<std::string>& arguments) {
  if (!socket_ || !has_one_thread()) return std::nullopt;
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t copy = ::fork();
  if (copy == 0) {
    ::setsid();
    write_mark(idle_mark_);
    print_nowhere();
    last_code_ = 0;
    return wait();
  }
  if (copy > 0) say({{"stays", copy}, {"job", ::getpid()}, {"arguments", arguments}});
  socket_.reset();  // only the copy keeps it, so the copy ends if nobody can send a job any more
  return std::nullopt;
}

std::optional<std::vector<std::string>> NextJob::stay(const std::vector<std::string>& arguments,
                                                      int code) {
  if (!socket_ || !has_one_thread() || !has_no_children()) return std::nullopt;
  std::cout.flush();
  std::fflush(nullptr);
  write_mark(idle_mark_);
  stayed_ = true;
  last_code_ = code;
  const pid_t self = ::getpid();
  say({{"stays", self}, {"job", self}, {"arguments", arguments}, {"ended", code}});
  print_nowhere();
  return wait();
}

void NextJob::begin_anew(const std::vector<std::string>& words) {
  if (socket_) {
    ::fcntl(socket_.get(), F_SETFD, 0);
    ::setenv(worker_variable, cat(socket_.get(), " ", idle_mark_).c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  throw Error(cat("cannot start ", words.at(0), ": ", errno_text(errno)));
}

void NextJob::say(const nlohmann::json& what) {
  const std::string line = what.dump() + "\n";
  ::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
}

// The mark is written first. From then on, the process belongs to the attempt.
std::vector<std::string> NextJob::wait() {
  std::string line;
  UniqueFd output;
  while (line.empty() || line.back() != '\n')
    if (!receive_with_file(socket_.get(), line, output)) ::_exit(last_code_);
  try {
    const nlohmann::json job = nlohmann::json::parse(line);
    write_mark(job.at("mark").get<std::string>());
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != whole_number_of<pid_t>(job.at("supervisor"))) ::_exit(1);
    print_to_file(output);
    apply_environment(job.at("environment"));
    const std::string took = "{\"took\":true}\n";
    if (::send(socket_.get(), took.data(), took.size(), MSG_NOSIGNAL) < 0) ::_exit(1);
    const auto folder = job.at("folder").get<std::string>();
    if (::chdir(folder.c_str()) != 0) {
      say_error(cat("cannot go to the folder ", folder, ": ", errno_text(errno)));
      ::_exit(127);
    }
    return job.at("arguments").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    ::_exit(1);
  }
}

void NextJob::write_mark(const std::string& mark) {
  if (mark.size() != idle_mark_.size()) ::_exit(1);
  std::memcpy(mark_, mark.data(), mark.size());
}

}  // namespace lockstep
