#include "tools/jobs/process/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/json/json_number.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/pass_fd.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep {
namespace {

class Supervisor {
 public:
  Supervisor(int socket, UniqueFd record) : socket_(socket), record_(std::move(record)) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    allow_most_open_files();
    // An empty handler is used because jobs would inherit SIG_IGN.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1})
      ::signal(number, [](int) {});
    sigset_t children;
    ::sigemptyset(&children);
    ::sigaddset(&children, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &children, nullptr);
    signals_ = UniqueFd(::signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC));
    if (!signals_) throw Error(cat("cannot wait for signals: ", errno_text(errno)));
  }

  void run() {
    while (socket_ || !jobs_.empty()) {
      wait();
      take_orders();
      reap();
      finish();
    }
    dismiss_all();
    end_all_others();
    reap_children();
    // the call fails if groups of other supervisors remain
    if (!groups_.empty()) ::rmdir(groups_.c_str());
  }

 private:
  void wait() {
    std::vector<pollfd> watched{{signals_.get(), POLLIN, 0}};
    if (socket_) watched.push_back({socket_.get(), POLLIN, 0});
    const std::size_t first_output = watched.size();
    double next = std::numeric_limits<double>::infinity();
    std::vector<JobProcess*> writers;
    for (const auto& [attempt, job] : jobs_) {
      next = std::min(next, job->over() ? 0 : job->next_look_s());
      if (job->worker_fd() >= 0) {
        watched.push_back({job->worker_fd(), POLLIN, 0});
        writers.push_back(job.get());
      }
      if (job->output_fd() < 0) continue;
      watched.push_back({job->output_fd(), POLLIN, 0});
      writers.push_back(job.get());
    }
    const double left_ms = std::ceil((next - clock_.now_s()) * 1000);
    const int timeout =
        std::isinf(next) ? -1 : static_cast<int>(std::clamp(left_ms, 0.0, 60'000.0));
    ::poll(watched.data(), watched.size(), timeout);
    for (std::size_t i = 0; i < writers.size(); ++i)
      if (watched[first_output + i].revents != 0) {
        writers[i]->read_worker(clock_.now_s(), clock_.wall_s());
        writers[i]->read_output();
      }
  }

  void take_orders() {
    if (!socket_) return;
    FrameReader::Read read = FrameReader::Read::more;
    while (read == FrameReader::Read::more) {
      read = reader_.read(socket_.get());
      while (const auto message = reader_.next()) obey(*message);
    }
    if (read != FrameReader::Read::ended) return;
    socket_.reset();
    append_line(record_.get(), R"({"alone":true})");
    dismiss_all();
    sync_record();
  }

  void obey(const nlohmann::json& message) {
    if (message.contains("stop")) {
      const auto found = jobs_.find(whole_member(message, "stop"));
      if (found != jobs_.end())
        found->second->stop(message.at("why").get<std::string>(), clock_.now_s());
      return;
    }
    JobOrder order = order_from_json(message);
    const std::int64_t attempt = order.attempt;
    if (!order.group.empty()) groups_ = std::filesystem::path(order.group).parent_path();
    std::vector<UniqueFd> leases = reader_.take_files(order.leases);
    std::unique_ptr<KeptWorker> worker = worker_for(order);
    auto job = std::make_unique<JobProcess>(std::move(order), std::move(leases), leaders_,
                                            clock_.now_s(), clock_.wall_s(), std::move(worker));
    say_begun(*job);
    jobs_.emplace(attempt, std::move(job));
    most_jobs_ = std::max(most_jobs_, jobs_.size());
  }

  void say_begun(const JobProcess& job) {
    if (socket_ && job.leader() != 0)
      send_frame(socket_.get(), {{"begun", job.attempt()}, {"pid", job.leader()}});
  }

  // Returns a waiting process that can run this order. Null if a new process must run it.
  std::unique_ptr<KeptWorker> worker_for(JobOrder& order) {
    if (order.worker_mark.empty()) return nullptr;
    for (const std::vector<std::string>& program : distrusted_)
      if (order.command.size() >= program.size() &&
          std::equal(program.begin(), program.end(), order.command.begin())) {
        order.worker_mark.clear();
        return nullptr;
      }
    const std::vector<pid_t> children = own_children();
    for (std::size_t i = idle_.size(); i-- > 0;) {
      idle_[i]->read();
      const bool waits =
          std::find(children.begin(), children.end(), idle_[i]->copy()) != children.end() &&
          !leaders_.contains(idle_[i]->copy());
      if (waits && !idle_[i]->serves(order)) continue;
      std::unique_ptr<KeptWorker> found = std::move(idle_[i]);
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      if (waits) return found;
    }
    return nullptr;
  }

  // Keeps the process that a finished job left behind. The number of waiting processes is at most
  // the largest number of jobs that ran at once. A process that ran the job itself is not reused if
  // a signal to the job may still reach it. It is not reused either if its session contains
  // processes that could not be ended.
  void keep(JobProcess& job, const JobExit& exit) {
    if (!job.distrusted().empty()) distrusted_.insert(job.distrusted());
    std::unique_ptr<KeptWorker> worker = job.take_worker();
    if (worker == nullptr) return;
    worker->read();
    const bool is_clean = !worker->ended() || (exit.ended_by.empty() && exit.cleared);
    if (socket_ && worker->copy() != 0 && is_clean)
      idle_.push_back(std::move(worker));
    else
      worker->dismiss(leaders_);
    if (idle_.size() <= most_jobs_) return;
    idle_.front()->dismiss(leaders_);
    idle_.erase(idle_.begin());
  }

  void dismiss_all() {
    for (const auto& worker : idle_) worker->dismiss(leaders_);
    idle_.clear();
  }

  void reap() {
    signalfd_siginfo ignored{};
    while (::read(signals_.get(), &ignored, sizeof ignored) > 0) continue;
    int status = 0;
    rusage usage{};
    for (pid_t child = 0; (child = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
      if (!leaders_.contains(child)) continue;  // an orphan of some job
      for (const auto& [attempt, job] : jobs_)
        if (job->leader() == child) {
          job->reaped(status, usage, clock_.wall_s());
          say_begun(*job);  // sent again if the kept worker did not begin the job
          break;
        }
    }
  }

  // Without a scheduler, only this call makes the output of jobs survive a power loss. The line
  // covers all lines above it.
  void sync_record() {
    if (::syncfs(record_.get()) != 0) return;
    append_line(record_.get(), R"({"synced":true})");
    ::fdatasync(record_.get());
  }

  void finish() {
    const std::size_t before = jobs_.size();
    for (auto place = jobs_.begin(); place != jobs_.end();) {
      JobProcess& job = *place->second;
      if (!job.over()) job.look(clock_.now_s(), clock_.wall_s());
      if (!job.over()) {
        ++place;
        continue;
      }
      const JobExit exit = job.exit();
      const nlohmann::json said = exit_json(exit);
      // If the disk is full, the record may lack this line. The scheduler, if there is one, still
      // gets the message.
      append_line(record_.get(), to_line(said));
      if (socket_) send_frame(socket_.get(), said);
      keep(job, exit);
      place = jobs_.erase(place);
      if (jobs_.empty()) end_all_others();
    }
    if (!socket_ && jobs_.size() < before) sync_record();
  }

  // The remaining processes were started by jobs. They have changed their environment and session,
  // so it is unknown by which jobs.
  void end_all_others() {
    std::vector<pid_t> left = own_children();
    for (const auto& worker : idle_) std::erase(left, worker->copy());
    if (!left.empty()) signal_descendants(left, SIGKILL);
  }

  UniqueFd socket_, record_, signals_;
  FrameReader reader_;
  std::set<pid_t> leaders_;
  std::filesystem::path groups_;  // control groups of the batch; empty if there are none
  std::map<std::int64_t, std::unique_ptr<JobProcess>> jobs_;
  std::size_t most_jobs_ = 0;                      // largest number of jobs that ran at once
  std::vector<std::unique_ptr<KeptWorker>> idle_;  // the oldest first
  // programs whose copies did not follow the protocol
  std::set<std::vector<std::string>> distrusted_;
  Clock& clock_ = system_clock();
};

}  // namespace

UniqueFd make_record(const std::filesystem::path& record) {
  UniqueFd file = above_stderr(open_lines(record));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(cat("cannot lock ", record.string(), ": ", errno_text(errno)),
                "the batch must lie on a file system that locks files");
  return file;
}

void supervise(int socket, UniqueFd record) { Supervisor(socket, std::move(record)).run(); }

SupervisorLink::SupervisorLink(std::vector<std::string> program,
                               const std::filesystem::path& record) {
  auto [ours, theirs] = socket_pair();
  socket_ = std::move(ours);
  // The record is locked before the supervisor starts. If this scheduler is killed, the next one
  // must wait for the supervisor, even if its program has not begun.
  const UniqueFd file = make_record(record);
  program.push_back(cat(theirs.get()));
  program.push_back(cat(file.get()));
  pid_ = spawn({.argv = std::move(program),
                .stderr_fd = STDERR_FILENO,
                .inherited = {theirs.get(), file.get()},
                .own_group = false,
                .own_session = true,
                .outlives_us = true});
}

SupervisorLink::~SupervisorLink() {
  socket_.reset();
  int status = 0;
  ::waitpid(pid_, &status, WNOHANG);
}

void SupervisorLink::wait_for_end() const {
  constexpr int most_looks = 5000;  // five seconds
  siginfo_t ended{};
  for (int look = 0; look < most_looks && ended.si_pid == 0; ++look) {
    if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (ended.si_pid == 0) system_clock().sleep_s(0.001);
  }
}

void SupervisorLink::end() {
  socket_.reset();
  wait_for_end();
}

bool SupervisorLink::start(const JobOrder& order, const std::vector<UniqueFd>& leases) {
  return send_frame(socket_.get(), order_json(order), leases, &reader_);
}

void SupervisorLink::stop(std::int64_t attempt, const std::string& why) {
  send_frame(socket_.get(), {{"stop", attempt}, {"why", why}}, {}, &reader_);
}

std::optional<std::vector<JobExit>> SupervisorLink::take(
    const std::function<void(std::int64_t, pid_t)>& started) {
  std::vector<JobExit> exits;
  FrameReader::Read read = FrameReader::Read::more;
  while (read == FrameReader::Read::more) {
    read = reader_.read(socket_.get());
    while (const auto message = reader_.next()) {
      if (message->contains("begun"))
        started(whole_member(*message, "begun"), whole_member<pid_t>(*message, "pid"));
      else
        exits.push_back(exit_from_json(*message));
    }
  }
  if (read == FrameReader::Read::ended && exits.empty()) return std::nullopt;
  return exits;
}

SupervisorRecord read_record(const std::filesystem::path& record) {
  SupervisorRecord result;
  for_each_line(record, [&](const std::string& line) {
    const nlohmann::json value = parse_object(line);
    if (value.is_discarded()) return;
    try {
      if (value.contains("alone"))
        result.alone = true;
      else if (value.contains("synced"))
        for (JobExit& exit : result.exits) exit.on_disk = true;
      else
        result.exits.push_back(exit_from_json(value));
    } catch (const std::exception&) {
      // The line is damaged, so its attempt is taken as lost.
    }
  });
  return result;
}

bool supervisor_lives(const std::filesystem::path& record) {
  const UniqueFd file(::open(record.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return true;
  return false;
}

}  // namespace lockstep
