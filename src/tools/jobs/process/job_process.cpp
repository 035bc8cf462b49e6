#include "tools/jobs/process/job_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/json/json_number.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "tools/jobs/process/cgroup.h"
#include "tools/jobs/process/job_environment.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/jobs/process/process_use.h"

namespace lockstep {
namespace {

// time for processes that a job leaves behind, before SIGKILL
constexpr double leftover_grace_s = 2;
constexpr double give_up_s = 30;  // after SIGKILL, processes may still wait for a device or a disk
constexpr double look_every_s = 0.05;
constexpr double take_up_s = 10;  // time in which a kept worker must begin its job
// The maximum time between the change to the mark of waiting processes and the report that the job
// has ended. A process that is not scheduled in between must not lose its job.
constexpr double say_ended_s = 1;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// If the folder exists, a power loss has erased its attempt from the ledger, and the number was
// used again. The folder is removed, unless this attempt resumes in it.
void make_new(const std::string& folder, const std::string& log, bool goes_on) {
  std::error_code ignored;
  std::filesystem::remove(log, ignored);
  if (::mkdir(folder.c_str(), 0777) == 0 || (goes_on && errno == EEXIST)) return;
  if (errno == EEXIST) {
    std::filesystem::remove_all(folder, ignored);
    if (::mkdir(folder.c_str(), 0777) == 0) return;
  }
  throw Error(cat("cannot make the folder ", folder, ": ", errno_text(errno)));
}

// This process's environment with `changes` applied. A job of another batch may have started this
// supervisor, so old variables must be replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> result;
  for (char** variable = ::environ; *variable != nullptr; ++variable)
    if (variable_name(*variable) != worker_variable &&
        std::none_of(changes.begin(), changes.end(), [&](const std::string& change) {
          return variable_name(change) == variable_name(*variable);
        }))
      result.emplace_back(*variable);
  result.insert(result.end(), changes.begin(), changes.end());
  return result;
}

}  // namespace

nlohmann::json order_json(const JobOrder& order) {
  nlohmann::json value{{"attempt", order.attempt}, {"mark", order.mark},
                       {"command", order.command}, {"environment", order.environment},
                       {"folder", order.folder},   {"out", order.out},
                       {"log", order.log},         {"log_limit_bytes", order.log_limit_bytes},
                       {"cores", order.cores},     {"grace_s", order.grace_s},
                       {"leases", order.leases},   {"goes_on", order.goes_on},
                       {"group", order.group},     {"worker_mark", order.worker_mark}};
  if (order.timeout_s) value["timeout_s"] = *order.timeout_s;
  return value;
}

JobOrder order_from_json(const nlohmann::json& value) {
  JobOrder order;
  order.attempt = whole_member(value, "attempt");
  value.at("mark").get_to(order.mark);
  value.at("command").get_to(order.command);
  value.at("environment").get_to(order.environment);
  value.at("folder").get_to(order.folder);
  value.at("out").get_to(order.out);
  value.at("log").get_to(order.log);
  order.log_limit_bytes = whole_member<std::uint64_t>(value, "log_limit_bytes");
  for (const nlohmann::json& core : value.at("cores"))
    if (const auto number = whole_number_of<int>(core)) order.cores.push_back(*number);
  value.at("grace_s").get_to(order.grace_s);
  order.leases = whole_member<std::size_t>(value, "leases");
  value.at("goes_on").get_to(order.goes_on);
  value.at("group").get_to(order.group);
  value.at("worker_mark").get_to(order.worker_mark);
  if (value.contains("timeout_s")) order.timeout_s = value["timeout_s"].get<double>();
  return order;
}

nlohmann::json exit_json(const JobExit& exit) {
  return {
      {"attempt", exit.attempt}, {"problem", exit.problem}, {"code", exit.code},
      {"signal", exit.signal},   {"by", exit.ended_by},     {"started", exit.started},
      {"ended", exit.ended},     {"cpu_s", exit.cpu_s},     {"max_rss_bytes", exit.max_rss_bytes},
      {"cleared", exit.cleared}, {"short", exit.is_short}};
}

JobExit exit_from_json(const nlohmann::json& value) {
  return {.attempt = whole_member(value, "attempt"),
          .problem = value.at("problem").get<std::string>(),
          .is_short = value.value("short", false),
          .code = whole_member<int>(value, "code"),
          .signal = whole_member<int>(value, "signal"),
          .ended_by = value.at("by").get<std::string>(),
          .started = value.at("started").get<double>(),
          .ended = value.at("ended").get<double>(),
          .cpu_s = value.at("cpu_s").get<double>(),
          .max_rss_bytes = whole_member(value, "max_rss_bytes"),
          .cleared = value.at("cleared").get<bool>()};
}

JobProcess::JobProcess(JobOrder order, std::vector<UniqueFd> leases, std::set<pid_t>& leaders,
                       double now_s, double wall_s, std::unique_ptr<KeptWorker> worker)
    : order_(std::move(order)), leases_(std::move(leases)), leaders_(leaders), now_s_(now_s) {
  LOCKSTEP_CHECK(!order_.mark.empty());  // with an empty mark, all unmarked processes would match
  exit_.attempt = order_.attempt;
  exit_.started = exit_.ended = wall_s;
  begin(std::move(worker));
  if (order_.timeout_s && !over()) timeout_at_ = now_s + *order_.timeout_s;
}

void JobProcess::begin(std::unique_ptr<KeptWorker> worker) {
  try {
    make_new(order_.out, order_.log, order_.goes_on);
    if (!order_.group.empty() && !make_cgroup(order_.group)) order_.group.clear();
    const UniqueFd group(order_.group.empty() ? -1
                                              : ::open(order_.group.c_str(), O_PATH | O_CLOEXEC));
    Pipe output = make_pipe();
    set_nonblocking(output.read.get());
    if (worker == nullptr || !give_to(std::move(worker), output.write))
      begin_process(output.write, group);
    leaders_.insert(leader_);
    output_ = std::move(output.read);
  } catch (const Error& error) {
    exit_.problem = error.what();
    exit_.is_short = dynamic_cast<const ShortOfResources*>(&error) != nullptr;
    if (!error.hint().empty()) exit_.problem += cat(" (", error.hint(), ")");
    exit_.code = 127;
    tree_gone_ = true;
  }
}

void JobProcess::begin_process(const UniqueFd& output, const UniqueFd& group) {
  std::vector<std::string> environment = environment_with(order_.environment);
  UniqueFd inherited;
  if (!order_.worker_mark.empty()) {
    std::tie(worker_, inherited) = KeptWorker::make();
    environment.push_back(cat(worker_variable, "=", inherited.get(), " ", order_.worker_mark));
  }
  SpawnSpec spec{.argv = order_.command,
                 .environment = std::move(environment),
                 .stdout_fd = output.get(),
                 .stderr_fd = output.get(),
                 .own_group = false,
                 .own_session = true,
                 .folder = order_.folder,
                 .cores = order_.cores,
                 .cgroup_fd = group.get()};
  if (inherited) spec.inherited = {inherited.get()};
  leader_ = first_pid_ = spawn(spec);
  if (worker_) worker_->began(leader_, order_);
}

bool JobProcess::give_to(std::unique_ptr<KeptWorker> worker, const UniqueFd& output) {
  const pid_t process = worker->copy();
  const double cpu_s = cpu_s_of(process);
  forget_peak(process);
  if (!worker->give(order_, output.get())) {
    ::kill(process, SIGKILL);  // a child that is not reaped yet
    return false;
  }
  worker_ = std::move(worker);
  leader_ = first_pid_ = process;
  cpu_before_s_ = cpu_s;
  take_up_by_ = now_s_ + take_up_s;
  return true;
}

// A copy of a kept worker must have the job's mark and its own session while it runs the job. Then
// it is found like any other process.
void JobProcess::read_worker(double now_s, double wall_s) {
  if (!worker_ || !distrusted_.empty()) return;
  worker_->read();
  if (leader_ == 0) return;
  if (const std::optional<int> code = worker_->ended()) {
    take_up_by_ = 0;
    // the process has ended since, so reaped() has its exit status
    if (worker_->copy() == 0) return;
    exit_.cpu_s = std::max(0.0, cpu_s_of(leader_) - cpu_before_s_);
    exit_.max_rss_bytes = peak_memory_bytes(leader_);
    return ended(*code, wall_s);
  }
  if (take_up_by_ == 0 || !worker_->took()) return;
  std::string mark = attempt_of(leader_);
  if (mark != order_.mark && mark != order_.worker_mark)
    mark = attempt_of(leader_);  // the mark may be new
  if (mark.empty()) return;  // the process is ending, or the time limit for its start handles it
  if (mark == order_.worker_mark)
    take_up_by_ = std::min(take_up_by_, now_s + say_ended_s);
  else if (mark == order_.mark && ::getsid(leader_) == leader_)
    take_up_by_ = 0;
  else
    give_up_worker();
}

// Stops trusting the worker. Once its process is gone, the attempt begins again with a new process.
void JobProcess::give_up_worker() {
  distrusted_ = worker_->program();
  take_up_by_ = std::numeric_limits<double>::max();
  if (leader_ != 0) signal_descendants({leader_}, SIGKILL);
}

JobProcess::~JobProcess() {
  if (!order_.group.empty()) remove_cgroup(order_.group);
}

void JobProcess::read_output() {
  char block[1 << 16];
  for (int turn = 0; turn < 16 && output_; ++turn) {
    const ssize_t got = ::read(output_.get(), block, sizeof block);
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) output_.reset();
      return;
    }
    if (got == 0) {
      output_.reset();
      return;
    }
    try {
      if (!log_) log_ = std::make_unique<RankLog>(order_.log, order_.log_limit_bytes);
      log_->write({block, static_cast<std::size_t>(got)});
    } catch (const Error&) {
      // If the log cannot be created, the job still runs.
    }
  }
}

void JobProcess::reaped(int wait_status, const rusage& usage, double wall_s) {
  if (leader_ == 0) return;  // the job has reported its end already and was ended while it waited
  if (worker_) worker_->read();
  const bool is_heard = worker_ && distrusted_.empty();
  if (is_heard && worker_->took()) take_up_by_ = 0;
  // Either nothing of the job has run, or the whole job runs again.
  if (take_up_by_ > 0 && exit_.ended_by.empty()) {
    leaders_.erase(leader_);
    leader_ = 0;
    take_up_by_ = 0;
    worker_->dismiss(leaders_);
    worker_.reset();
    log_.reset();
    cpu_before_s_ = 0;
    if (!distrusted_.empty()) order_.worker_mark.clear();
    return begin(nullptr);
  }
  exit_.cpu_s = std::max(0.0, seconds(usage.ru_utime) + seconds(usage.ru_stime) - cpu_before_s_);
  exit_.max_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  if (is_heard && worker_->ended()) {  // the process exited before its report was read
    const int said = *worker_->ended();
    worker_.reset();
    return ended(said, wall_s);
  }
  exit_.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  ended(exit_code(wait_status), wall_s);
}

void JobProcess::ended(int code, double wall_s) {
  exit_.code = code;
  exit_.ended = wall_s;
  leaders_.erase(leader_);
  leader_ = 0;
  timeout_at_ = take_up_by_ = 0;
}

std::vector<pid_t> JobProcess::left() const {
  std::vector<pid_t> found;
  const pid_t copy = worker_ ? worker_->copy() : 0;
  for (const pid_t child : own_children())
    if (!leaders_.contains(child) && child != copy &&
        (attempt_of(child) == order_.mark || ::getsid(child) == first_pid_))
      found.push_back(child);
  return found;
}

bool JobProcess::is_alone() const {
  return left().empty() && (order_.group.empty() || !is_populated(order_.group));
}

void JobProcess::signal_tree(int number) const {
  std::set<pid_t> told;
  if (!order_.group.empty()) {
    if (number == SIGKILL)
      kill_cgroup(order_.group);
    else
      told = signal_cgroup(order_.group, number);
  }
  std::vector<pid_t> roots = left();
  if (leader_ != 0) roots.push_back(leader_);
  if (worker_ && worker_->copy() != 0) told.insert(worker_->copy());
  if (!roots.empty()) signal_descendants(roots, number, told);
}

// Whether the leader has ended, even if its end was not yet received or reaped.
bool JobProcess::has_ended() const {
  if (leader_ == 0) return true;
  if (worker_ && distrusted_.empty()) {
    worker_->read();
    if (worker_->ended()) return true;
  }
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == leader_;
}

// Stops the leader with SIGSTOP. Finding all processes of the job takes time, and the leader could
// end meanwhile.
void JobProcess::hold_leader() const {
  constexpr int most_looks = 200;  // 20 ms; a process that waits for a device does not stop
  if (::kill(leader_, SIGSTOP) != 0) return;
  siginfo_t info{};
  for (int look = 0; look < most_looks && info.si_pid == 0; ++look) {
    if (::waitid(P_PID, static_cast<id_t>(leader_), &info,
                 WSTOPPED | WEXITED | WNOHANG | WNOWAIT) != 0)
      return;
    if (info.si_pid == 0) system_clock().sleep_s(1e-4);
  }
}

void JobProcess::stop(const std::string& why, double now_s) {
  if (has_ended() || !exit_.ended_by.empty()) return;
  hold_leader();
  if (has_ended()) {  // the remaining processes are ended in any case
    if (leader_ != 0) ::kill(leader_, SIGCONT);
    return;
  }
  exit_.ended_by = why;
  signal_tree(SIGTERM);
  signal_tree(SIGCONT);  // a stopped process would not react to the signal
  kill_at_ = now_s + order_.grace_s;
}

void JobProcess::look(double now_s, double wall_s) {
  now_s_ = now_s;
  if (take_up_by_ > 0 && now_s >= take_up_by_) {
    read_worker(now_s, wall_s);
    if (take_up_by_ > 0 && distrusted_.empty()) give_up_worker();
  }
  if (timeout_at_ > 0 && now_s >= timeout_at_) {
    timeout_at_ = 0;
    stop("timeout", now_s);
  }
  if (leader_ == 0 && !tree_gone_ && now_s >= look_at_) {
    look_at_ = now_s + look_every_s;
    if (is_alone()) {
      tree_gone_ = true;
    } else if (kill_at_ == 0 && give_up_at_ == 0) {
      signal_tree(SIGTERM);
      kill_at_ = now_s + leftover_grace_s;
    }
  }
  if (kill_at_ > 0 && now_s >= kill_at_) {
    signal_tree(SIGKILL);
    if (give_up_at_ == 0) give_up_at_ = now_s + give_up_s;
    kill_at_ = now_s + look_every_s * 4;  // repeated, because a fork may have been in progress
  }
  if (leader_ == 0 && give_up_at_ > 0 && now_s >= give_up_at_ && !tree_gone_) {
    tree_gone_ = true;
    exit_.cleared = false;
  }
}

double JobProcess::next_look_s() const {
  double next = std::numeric_limits<double>::infinity();
  for (const double at : {timeout_at_, kill_at_, give_up_at_, take_up_by_})
    if (at > 0) next = std::min(next, at);
  if (leader_ == 0 && !tree_gone_) next = std::min(next, look_at_);
  return next;
}

JobExit JobProcess::exit() {
  read_output();
  output_.reset();
  if (!order_.group.empty()) {
    const CgroupUse use = read_use(order_.group);
    exit_.cpu_s = std::max(exit_.cpu_s, use.cpu_s.value_or(0));
    exit_.max_rss_bytes = std::max(exit_.max_rss_bytes, use.memory_peak_bytes.value_or(0));
  }
  leases_.clear();  // a listener may start another job on these devices when it ends
  return exit_;
}

}  // namespace lockstep
