#include "tools/jobs/schedule/scheduler.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/run/folder/run_lock.h"
#include "tools/jobs/files/batch_identity.h"
#include "tools/jobs/job_file/fill_attempt.h"
#include "tools/jobs/job_file/placeholders.h"
#include "tools/jobs/process/job_environment.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

constexpr double sync_every_s = 1, requests_every_s = 0.2, busy_every_s = 0.5;
constexpr double signal_again_s = 0.2;
// a supervisor that lost its scheduler records this within this time
constexpr double supervisor_wait_s = 30;

// An ID that no other scheduler on this machine has, not even before a reboot.
std::string new_id(Clock& clock) {
  Hasher hasher;
  hasher.update(cat(::getpid(), " ", fixed(clock.wall_s(), 9), " ", fixed(clock.now_s(), 9)));
  return hasher.hex().substr(0, 12);
}

}  // namespace

Scheduler::Scheduler(Ledger& ledger, SchedulerSetup setup)
    : ledger_(ledger),
      setup_(std::move(setup)),
      resources_(setup_.resources),
      limits_(ledger.limits()),
      batch_id_(batch_id(ledger, setup_.folder)),
      supervisor_id_(new_id(clock_)),
      occupancy_(resources_.all().devices.size()) {
  // If a supervisor is killed, its orphans become children of this process.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (batch_id_.empty()) batch_id_ = new_id(clock_);
  set_batch_id(ledger_, setup_.folder, batch_id_);
  for (const char* folder : {"attempts", "jobs", "logs", "supervisors"}) {
    std::error_code error;
    fs::create_directories(setup_.folder.path / folder, error);
    if (error)
      throw Error(
          cat("cannot make ", (setup_.folder.path / folder).string(), ": ", error.message()),
          "a folder must lie there that you can write to");
  }
  const std::string boot = lock_rules(setup_.folder.ledger()).machine;
  if (const std::string before = ledger_.fact("boot"); before != boot) {
    same_boot_ = before.empty();
    if (!same_boot_) lost_ += ledger_.forget_unsynced();
  }
  paused_ = ledger_.is_paused();
  load_jobs();
  groups_.emplace(ledger_, batch_id_);
  adopt_or_forget();
  // written last: if this process is killed before, the next scheduler repeats adopt_or_forget
  ledger_.set_fact("boot", boot);
  groups_->begin(ledger_);
  link_ = std::make_unique<SupervisorLink>(setup_.supervisor_program,
                                           setup_.folder.supervisor(supervisor_id_));
  if (!resources_.all().devices.empty()) leases_.emplace(setup_.lease_folder);
  synced_s_ = requests_s_ = clock_.now_s();
}

Scheduler::~Scheduler() {
  if (!running_.empty()) return;
  link_->end();
  if (groups_) groups_->remove_empty();
}

std::string Scheduler::mark_of(std::int64_t attempt) const {
  return attempt_mark(batch_id_, attempt);
}

void Scheduler::load_jobs() {
  const std::vector<QueuedJob> jobs = ledger_.queue();
  for (QueuedJob job : jobs) {
    // A known job may have another priority or other resource requirements from now on.
    if (const auto known = listed_.find(job.id); known != listed_.end()) {
      job.state = known->second.state;
      job.not_before = known->second.not_before;
    }
    listed_[job.id] = job;
  }
  std::vector<std::int64_t> order;
  graph_ = {};
  for (const QueuedJob& job : jobs) {
    graph_.add(job.id, listed_.at(job.id).state);
    order.push_back(job.id);
  }
  for (const auto& [job, needed] : ledger_.dependencies()) {
    if (listed_.contains(job) && listed_.contains(needed)) graph_.need(job, needed);
  }
  counts_ = {};
  counts_.total = static_cast<std::int64_t>(listed_.size());
  for (const QueuedJob& job : jobs) count(listed_.at(job.id).state, 1);
  follow(graph_.begin(order));
}

void Scheduler::set_state(std::int64_t id, JobState state) {
  JobState& mine = listed_.at(id).state;
  count(mine, -1);
  mine = state;
  count(state, 1);
  follow(graph_.set_state(id, state));
}

// Adds jobs that became ready to the queues, and removes jobs that are no longer ready.
void Scheduler::follow(const std::vector<JobGraph::Change>& changes) {
  for (const JobGraph::Change& change : changes) {
    if (change.was == Standing::ready) queue_.erase(listed_.at(change.job));
    if (change.was == Standing::never) --counts_.blocked;
    if (change.is == Standing::ready) enqueue(change.job);
    if (change.is == Standing::never) {
      ++counts_.blocked;
      const JobState state = listed_.at(change.because).state;
      ledger_.set_state(change.job, JobState::waiting,
                        cat("needs ", ledger_.job(change.because).name, ", which ",
                            state == JobState::waiting  ? "does not run"
                            : state == JobState::failed ? "failed"
                                                        : cat("was ", to_string(state))));
      if (on_never_) on_never_(change.job);
    } else if (change.was == Standing::never && change.is != Standing::settled) {
      ledger_.set_state(change.job, JobState::waiting, "");
    }
  }
}

void Scheduler::enqueue(std::int64_t id) {
  if (held_.contains(id)) return;
  const QueuedJob& job = listed_.at(id);
  queue_.put(job,
             {.cpus = job.cpus,
              .gpus = job.gpus,
              .packed = is_packed(job) ? job.kind : std::string(),
              .alone = alone_.contains(id)},
             clock_.wall_s());
}

void Scheduler::count(JobState state, std::int64_t by) {
  switch (state) {
    case JobState::waiting:
      break;
    case JobState::running:
      counts_.running += by;
      break;
    case JobState::done:
      counts_.done += by;
      break;
    case JobState::skipped:
      counts_.skipped += by;
      break;
    case JobState::failed:
      counts_.failed += by;
      break;
    case JobState::cancelled:
      counts_.cancelled += by;
      break;
  }
}

// Handles attempts of earlier schedulers. Attempts that have ended are settled, and attempts that
// still run are waited for. For all others, no process may be left before their jobs run again.
void Scheduler::adopt_or_forget() {
  std::map<std::string, SupervisorRecord> records;
  std::set<std::string> kept;
  for (const Attempt& attempt : ledger_.unfinished()) {
    const fs::path file = setup_.folder.supervisor(attempt.supervisor);
    if (!records.contains(attempt.supervisor)) {
      const double until = clock_.now_s() + supervisor_wait_s;
      while (supervisor_lives(file) && !read_record(file).alone && clock_.now_s() < until)
        clock_.sleep_s(0.01);
      // checked before its record is read, because it may be ending
      const bool lives = supervisor_lives(file);
      SupervisorRecord record = read_record(file);
      if (lives && !record.alone)
        throw Error(
            cat("an earlier supervisor of this batch does not answer (", file.string(), ")"),
            "it may be stopped by a signal: see fuser on that file; kill -CONT or kill -9");
      record.alone = lives;
      records.emplace(attempt.supervisor, std::move(record));
    }
    const SupervisorRecord& record = records.at(attempt.supervisor);
    // After a power loss, the record of an end may exist while the job's output is lost.
    const auto exit =
        std::find_if(record.exits.begin(), record.exits.end(), [&](const JobExit& one) {
          return one.attempt == attempt.id && (same_boot_ || one.on_disk);
        });
    RunningAttempt running{.attempt = attempt, .begun_s = clock_.now_s(), .adopted = true};
    running.job = ledger_.job(attempt.job);
    if (exit != record.exits.end()) {
      apply(running, exit->is_short ? settle_short(*exit)
                                    : settle(setup_.folder, running.job, attempt, *exit,
                                             ledger_.tries(attempt.job), seen(running)));
    } else if (record.alone) {
      if (const auto job = listed_.find(attempt.job); job != listed_.end())
        running.queued = job->second;
      running.placement =
          resources_.take(running.queued, attempt.slot, attempt.cores, attempt.devices);
      kept.insert(mark_of(attempt.id));
      // The process that waits under this mark may be about to report the end of this attempt.
      kept.insert(worker_mark(batch_id_, attempt.supervisor));
      enter(running_.emplace(attempt.id, std::move(running)).first->second);
      ++adopted_;
    } else {
      end_attempt_of(attempt);
      forget(attempt, "its supervisor or the machine went down");
    }
  }
  // Ends processes whose attempts were recorded as ended.
  for (const MarkedProcess& process : processes_marked(batch_id_ + ":"))
    if (!kept.contains(process.mark)) end_marked(process.mark);
  for (const std::string& mark : groups_->marks())
    if (!kept.contains(mark)) end_marked(mark);
}

// Ends the processes of an attempt whose supervisor is gone. A waiting process takes the attempt's
// mark before it begins the job. The process returns to the mark of waiting processes only if it
// stays and its job has ended.
void Scheduler::end_attempt_of(const Attempt& attempt) const {
  end_marked(worker_mark(batch_id_, attempt.supervisor));
  end_marked(mark_of(attempt.id));
}

void Scheduler::end_marked(const std::string& mark) const {
  const double until = clock_.now_s() + setup_.grace_s + 10;
  for (;;) {
    groups_->kill(mark);
    const std::vector<MarkedProcess> processes = processes_marked(mark);
    if (processes.empty() && !groups_->is_alive(mark)) {
      groups_->remove(mark);
      return;
    }
    if (clock_.now_s() > until)
      throw Error(
          cat("process ", processes.empty() ? "" : cat(processes.front().pid, " "),
              "of an earlier attempt cannot be ended"),
          "it waits for a device or a disk: nothing of its job runs again before it is gone");
    for (const MarkedProcess& process : processes) signal_marked(process, SIGKILL);
    clock_.sleep_s(0.02);
  }
}

void Scheduler::forget(const Attempt& attempt, const std::string& why) {
  RunningAttempt running{.attempt = attempt, .job = ledger_.job(attempt.job)};
  if (attempt.asked == ended_by_cancel) {
    const JobExit exit{.attempt = attempt.id,
                       .code = 128 + SIGKILL,
                       .signal = SIGKILL,
                       .ended_by = ended_by_cancel};
    const Settled settled = settle(setup_.folder, running.job, attempt, exit, 0);
    apply(std::move(running), settled);
    return;
  }
  ++lost_;
  ::rmdir(setup_.folder.attempt(attempt.id).c_str());  // only removes an empty folder
  apply(std::move(running), settle_lost(why, ledger_.times_lost(attempt.job) + 1));
}

bool Scheduler::turn(double wait_s, int wake_fd) {
  if (!std::exchange(has_turned_, true)) limit_by_open_files();
  for (const std::int64_t id : queue_.take_delayed(clock_.wall_s())) enqueue(id);
  if (clock_.now_s() > asked_busy_s_ + busy_every_s) {
    asked_busy_s_ = clock_.now_s();
    resources_.none_busy();
  }
  start_what_fits();
  if (running_.empty() && (draining_ || (queue_.empty() && held_.empty()))) {
    look_at_idle_devices(true);
    ledger_.sync();
    return false;
  }
  look_at_idle_devices(false);
  double wait = std::min(wait_s, requests_every_s);
  if (const auto next = queue_.next_delayed()) wait = std::min(wait, *next - clock_.wall_s());
  pollfd watched[] = {{link_->fd(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
  ::poll(watched, wake_fd < 0 ? 1 : 2, static_cast<int>(std::ceil(std::max(wait, 0.0) * 1000)));
  take_exits();
  take_adopted();
  take_requests();
  look_at_devices();
  sync_sometimes();
  return true;
}

void Scheduler::start_what_fits() { order(begin_what_fits()); }

// Chooses jobs that fit and records them in the ledger as begun.
std::vector<Scheduler::Start> Scheduler::begin_what_fits() {
  std::vector<Start> starting;
  if (draining_ || paused_ || clock_.now_s() < short_until_s_) return starting;
  queue_.begin_what_fits(clock_.now_s(),
                         {.wants_devices = [&](std::int64_t id) { return wants_devices(id); },
                          .begin =
                              [&](std::int64_t id) {
                                // If a job can never run, that may end the batch.
                                return draining_ ? Lacks{.slots = true} : start_one(id, starting);
                              }});
  std::vector<Attempt> attempts;
  for (const Start& one : starting) attempts.push_back(one.running.attempt);
  ledger_.begin(attempts);
  for (std::size_t i = 0; i < starting.size(); ++i) starting[i].running.attempt = attempts[i];
  return starting;
}

void Scheduler::order(std::vector<Start> starting) {
  for (std::size_t i = 0; i < starting.size(); ++i) {
    RunningAttempt& one = starting[i].running;
    one.begun_s = clock_.now_s();
    one.others_at_begin = static_cast<int>(running_.size());
    JobOrder order = order_of(one);
    order.leases = starting[i].leases.size();
    const std::int64_t id = one.attempt.id;
    running_.emplace(id, std::move(one));
    link_->start(order, starting[i].leases);  // if the supervisor is gone, take_exits notices it
  }
  if (stopping_ && !starting.empty()) stop();
}

// Starts the job, or marks it as failed if it can never run. Returns the resources that it lacks
// now.
Lacks Scheduler::start_one(std::int64_t id, std::vector<Start>& starting) {
  const QueuedJob& job = listed_.at(id);
  if (const std::string why = never(job); !why.empty()) {
    ledger_.set_state(id, JobState::failed, why);
    set_state(id, JobState::failed);
    if (on_end_)
      on_end_({.attempt = {.job = id}, .job = ledger_.job(id)}, {.end = {.reason = why}});
    return {};
  }
  QueuedJob asked = job;
  RunningAttempt running{.queued = job, .setting = settings_used_};
  asked.gpus = request_of(job, running.trial);
  if (setting_ && is_searched(job)) asked.cpus = setting_->cpus;
  std::vector<UniqueFd> leases;
  const std::optional<Placement> placement = place(asked, leases);
  if (!placement) return resources_.lacks(asked);
  running.job = ledger_.job(id);
  running.job.cpus = asked.cpus;
  running.placement = *placement;
  if (running.trial != CpuOrGpu::Choice::unknown) kind_of(job).choice.trial_begins(running.trial);
  running.attempt = {
      .job = id, .supervisor = supervisor_id_, .slot = placement->slot, .cores = placement->cores};
  for (const int device : placement->devices)
    running.attempt.devices.push_back(resources_.all().devices[static_cast<std::size_t>(device)]);
  enter(running);
  set_state(id, JobState::running);
  starting.push_back({std::move(running), std::move(leases)});
  return {};
}

JobOrder Scheduler::order_of(const RunningAttempt& running) const {
  const Attempt& attempt = running.attempt;
  const std::string out = setup_.folder.attempt(attempt.id).string();
  const AttemptValues values{.out = out,
                             .slot = attempt.slot,
                             .gpu = attempt.devices.empty() ? std::nullopt : std::optional(0),
                             .cores = running.job.whole_cores(),
                             .attempt = attempt.number};
  Job job = fill_attempt(running.job, values);
  const bool on = attempt.number > 1 && goes_on(job);
  if (on) go_on(setup_.folder, ledger_.attempt_before(attempt), attempt.id, job);
  JobOrder order{.attempt = attempt.id,
                 .mark = mark_of(attempt.id),
                 .command = job.command,
                 .folder = job.folder,
                 .out = out,
                 .goes_on = on,
                 .log = setup_.folder.log(job.name, attempt.number).string(),
                 .group = job.keeps_worker ? "" : groups_->of(mark_of(attempt.id)),
                 .log_limit_bytes = setup_.log_limit_bytes,
                 .cores = attempt.cores,
                 .timeout_s = job.timeout_s,
                 .grace_s = setup_.grace_s};
  if (job.keeps_worker) order.worker_mark = worker_mark(batch_id_, supervisor_id_);
  if (job.shell) order.command.insert(order.command.begin(), {"sh", "-c"});
  order.environment = job_environment(job, {.mark = order.mark,
                                            .out = out,
                                            .number = attempt.number,
                                            .slot = attempt.slot,
                                            .threads = job.whole_cores(),
                                            .devices = attempt.devices});
  return order;
}

void Scheduler::take_exits() {
  const auto exits = link_->take([&](std::int64_t attempt, pid_t pid) {
    const auto found = running_.find(attempt);
    if (found != running_.end()) found->second.pid = pid;
  });
  if (!exits) return supervisor_is_gone();
  if (exits->empty()) return;
  if (!resources_.all().devices.empty()) {  // checking other users of the devices may take long
    finish(*exits);
    return start_what_fits();
  }
  // The jobs that start next are recorded in the same transaction as these ends. One transaction
  // costs less than two.
  Transaction transaction(ledger_.database());
  finish(*exits);
  std::vector<Start> starting = begin_what_fits();
  transaction.commit();
  order(std::move(starting));
}

void Scheduler::finish(const std::vector<JobExit>& exits) {
  if (exits.empty()) return;
  Transaction transaction(ledger_.database());
  for (JobExit exit : exits) {
    const auto found = running_.find(exit.attempt);
    if (found == running_.end()) continue;
    RunningAttempt running = std::move(found->second);
    running_.erase(found);
    const double together = vacate(running, exit.ended - exit.started);
    if (exit.is_short)
      // the request to end it came too late for its supervisor
      exit.ended_by = running.attempt.asked;
    if (exit.is_short && exit.ended_by.empty() && waits_for_more(running, exit.problem)) {
      if (running.trial != CpuOrGpu::Choice::unknown)
        kind_of(running.queued).choice.trial_stopped(running.trial);
      ::rmdir(setup_.folder.attempt(exit.attempt).c_str());
      apply(std::move(running), settle_short(exit));
      continue;
    }
    if (!exit.is_short) may_have_more();
    Settled settled = settle(setup_.folder, running.job, running.attempt, exit,
                             ledger_.tries(running.attempt.job), seen(running));
    learn(running, settled, together);
    apply(std::move(running), settled);
  }
  transaction.commit();
}

// A supervisor keeps several files open for each running job.
void Scheduler::limit_by_open_files() {
  constexpr rlim_t of_its_own = 32, of_a_job = 3, of_its_devices = 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return;
  const rlim_t each = of_a_job + (resources_.all().devices.empty() ? 0 : of_its_devices);
  const rlim_t most =
      std::max(rlim_t{1}, (limit.rlim_max - std::min(limit.rlim_max, of_its_own)) / each);
  if (most >= static_cast<rlim_t>(resources_.slots())) return;
  most_by_files_ = static_cast<int>(most);
  resources_.limit_slots(most_by_files_);
  note(cat("at most ", most, most == 1 ? " job" : " jobs", " at once, as a process may have ",
           limit.rlim_max, " files open here (ulimit -Hn)"));
}

// Whether a job waits that could not start because open files, processes or memory ran out. If so,
// fewer jobs run at once, and for a moment none starts. False if no other job ran and several tries
// failed.
bool Scheduler::waits_for_more(const RunningAttempt& running, const std::string& problem) {
  constexpr int most_tries_alone = 5;
  if (running.others_at_begin == 0 && ++tries_alone_ > most_tries_alone) return false;
  short_until_s_ = clock_.now_s() + std::exp2(tries_alone_);
  const int most = std::max(1, running.others_at_begin);
  if (most >= resources_.slots()) return true;
  resources_.limit_slots(most_by_shortage_ = most);
  note(cat("at most ", most, most == 1 ? " job" : " jobs",
           " at once for now: one more could not begin, and waits: ", problem));
  return true;
}

// After a shortage, each finished job raises the number of jobs at once by one, up to the earlier
// number.
void Scheduler::may_have_more() {
  tries_alone_ = 0;
  if (most_by_shortage_ < most_by_files_) resources_.limit_slots(++most_by_shortage_);
}

void Scheduler::apply(RunningAttempt running, const Settled& settled) {
  const std::int64_t id = running.attempt.job;
  ledger_.end(running.attempt, settled.end, settled.state, settled.not_before);
  if (const auto found = listed_.find(id); found != listed_.end()) {
    found->second.not_before = settled.not_before;
    set_state(id, settled.state);
  }
  look_at_failures();
  if (on_end_) on_end_(running, settled);
}

void Scheduler::look_at_failures() {
  if (!limits_.max_failure_rate || !why_ending_.empty()) return;
  const std::int64_t finished = counts_.done + counts_.failed + counts_.skipped;
  if (finished < limits_.min_finished || finished == 0) return;
  const double rate = static_cast<double>(counts_.failed) / static_cast<double>(finished);
  if (rate <= *limits_.max_failure_rate) return;
  why_ending_ = cat(counts_.failed, " of ", finished, " jobs failed, more than max_failure_rate = ",
                    general(*limits_.max_failure_rate, 4), " allows");
  draining_ = true;
}

void Scheduler::take_adopted() {
  std::set<std::string> supervisors;
  for (auto& [id, running] : running_) {
    if (!running.adopted) continue;
    supervisors.insert(running.attempt.supervisor);
    if (!running.attempt.asked.empty()) signal_adopted(running);
  }
  for (const std::string& supervisor : supervisors) {
    const fs::path file = setup_.folder.supervisor(supervisor);
    const bool lives = supervisor_lives(file);  // checked before its record is read
    finish(read_record(file).exits);
    if (lives) continue;
    std::vector<Attempt> gone;
    for (const auto& [id, running] : running_)
      if (running.attempt.supervisor == supervisor) gone.push_back(running.attempt);
    for (const Attempt& attempt : gone) {
      end_attempt_of(attempt);
      vacate(running_.at(attempt.id));
      running_.erase(attempt.id);
      forget(attempt, "its supervisor was ended");
    }
  }
}

// The supervisor was killed by a user, or by the kernel because memory ran out. Its jobs have ended
// too.
void Scheduler::supervisor_is_gone() {
  finish(read_record(setup_.folder.supervisor(supervisor_id_)).exits);
  std::vector<Attempt> gone;
  for (const auto& [id, running] : running_)
    if (!running.adopted) gone.push_back(running.attempt);
  for (const Attempt& attempt : gone) {
    end_attempt_of(attempt);
    vacate(running_.at(attempt.id));
    running_.erase(attempt.id);
    forget(attempt, "its supervisor was ended");
  }
  link_->wait_for_end();
  // Orphans of the supervisor are now children of this process. The remaining ones have hidden the
  // job to which they belong.
  std::vector<pid_t> orphans = own_children();
  std::erase(orphans, link_->pid());
  if (!orphans.empty()) signal_descendants(orphans, SIGKILL);
  reap_children(link_->pid());
  supervisor_id_ = new_id(clock_);
  link_ = std::make_unique<SupervisorLink>(setup_.supervisor_program,
                                           setup_.folder.supervisor(supervisor_id_));
}

void Scheduler::take_requests() {
  if (clock_.now_s() < requests_s_ + requests_every_s) return;
  requests_s_ = clock_.now_s();
  if (!ledger_.changed_by_others()) return;
  std::vector<Request> requests;
  {
    Transaction transaction(ledger_.database());
    requests = ledger_.take_requests();
    for (const Request& request : requests) obey(request);
    transaction.commit();
  }
}

void Scheduler::obey(const Request& request) {
  if (request.what == "pause" || request.what == "unpause") {
    paused_ = request.what == "pause";
    ledger_.set_paused(paused_);
  } else if (request.what == "stop") {
    stop();
  } else if (request.what == "drain") {
    drain();
  } else if (request.what == "slots") {
    const auto slots = whole_number<int>(request.value, 1, most_slots);
    if (!slots) return;  // Lockstep did not write this request
    resources_.set_slots(*slots);
    resources_.limit_slots(most_by_shortage_ = most_by_files_);
  } else if (request.what == "cancel") {
    if (request.job != 0) {
      cancel(request.job);
      return;
    }
    std::vector<std::int64_t> all;
    for (const auto& [id, one] : listed_) all.push_back(id);
    for (const std::int64_t id : all) cancel(id);
  } else if (request.what == "retry") {
    retry(request.job);
  } else if (request.what == "add") {
    queue_.clear();
    load_jobs();
  }
}

void Scheduler::cancel(std::int64_t job) {
  const auto found = listed_.find(job);
  if (found == listed_.end()) return;
  const JobState state = found->second.state;
  if (state == JobState::waiting) {
    cancel_waiting({job}, "cancelled by request");
  } else if (state == JobState::running) {
    for (auto& [id, running] : running_)
      if (running.attempt.job == job) end_attempt(running, ended_by_cancel);
  }
}

// Asks the supervisor to end the attempt. A supervisor that has lost its scheduler takes no orders.
// In that case, the scheduler signals the processes itself.
void Scheduler::end_attempt(RunningAttempt& running, const char* why) {
  if (!running.attempt.asked.empty()) return;
  running.attempt.asked = why;
  ledger_.ask_end(running.attempt);
  if (running.adopted)
    signal_adopted(running);
  else
    link_->stop(running.attempt.id, why);
}

void Scheduler::signal_adopted(RunningAttempt& running) {
  const bool first = running.kill_at_s == 0;
  if (!first && clock_.now_s() < running.kill_at_s) return;
  const std::string mark = mark_of(running.attempt.id);
  std::set<pid_t> told;
  if (first && running.attempt.signalled == 0) {
    running.attempt.signalled = clock_.wall_s();
    ledger_.ask_end(running.attempt);
  }
  if (first) {
    told = groups_->signal(mark, SIGTERM);
    groups_->signal(mark, SIGCONT);
  } else {
    groups_->kill(mark);
  }
  for (const MarkedProcess& process : processes_marked(mark)) {
    if (told.contains(process.pid)) continue;
    signal_marked(process, first ? SIGTERM : SIGKILL);
    if (first) signal_marked(process, SIGCONT);
  }
  running.kill_at_s = clock_.now_s() + (first ? setup_.grace_s : signal_again_s);
}

void Scheduler::retry(std::int64_t job) {
  const auto found = listed_.find(job);
  if (found == listed_.end()) return;
  const JobState state = found->second.state;
  if (state == JobState::waiting || state == JobState::running) return;
  found->second.not_before = 0;
  ledger_.forget_tries(job);
  set_state(job, JobState::waiting);
}

void Scheduler::hold(std::set<std::int64_t> jobs) {
  const std::set<std::int64_t> before = std::exchange(held_, std::move(jobs));
  const auto is_ready = [&](std::int64_t job) {
    return listed_.contains(job) && graph_.standing(job) == Standing::ready;
  };
  for (const std::int64_t job : held_)
    if (!before.contains(job) && is_ready(job)) queue_.erase(listed_.at(job));
  for (const std::int64_t job : before)
    if (!held_.contains(job) && is_ready(job)) enqueue(job);
}

bool Scheduler::waits(std::int64_t job) const {
  const auto found = listed_.find(job);
  return found != listed_.end() && found->second.state == JobState::waiting;
}

void Scheduler::cancel_waiting(const std::set<std::int64_t>& jobs, const std::string& why) {
  for (const std::int64_t job : jobs) {
    const auto found = listed_.find(job);
    if (found == listed_.end() || found->second.state != JobState::waiting) continue;
    ledger_.set_state(job, JobState::cancelled, why);
    if (on_never_) on_never_(job);
    set_state(job, JobState::cancelled);
  }
}

void Scheduler::on_never(std::function<void(std::int64_t)> never) {
  on_never_ = std::move(never);
  for (const auto& [id, one] : listed_)
    if (graph_.standing(id) == Standing::never) on_never_(id);
}

void Scheduler::drain() { draining_ = true; }

void Scheduler::stop() {
  draining_ = stopping_ = true;
  for (auto& [id, running] : running_) end_attempt(running, ended_by_stop);
}

void Scheduler::sync_sometimes() {
  if (clock_.now_s() < synced_s_ + sync_every_s) return;
  ledger_.sync();
  synced_s_ = clock_.now_s();
}

std::vector<const RunningAttempt*> Scheduler::running() const {
  std::vector<const RunningAttempt*> result;
  for (const auto& [id, running] : running_) result.push_back(&running);
  return result;
}

}  // namespace lockstep
