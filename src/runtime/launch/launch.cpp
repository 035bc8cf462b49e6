// Starts the ranks and executes the decisions of Supervision until all of them are gone.
#include "runtime/launch/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/check.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/signal_name.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "runtime/launch/keeper.h"
#include "runtime/launch/output/input_pipe.h"
#include "runtime/launch/output/output_queue.h"
#include "runtime/launch/output/pseudo_terminal.h"
#include "runtime/launch/ranks/rank_environment.h"
#include "runtime/launch/ranks/rank_process.h"
#include "runtime/launch/ranks/rank_screen.h"
#include "runtime/launch/signals.h"
#include "runtime/launch/supervision.h"
#include "runtime/launch/watch/hang_watch.h"
#include "runtime/launch/watch/heartbeat.h"
#include "runtime/launch/watch/meeting_watch.h"
#include "runtime/launch/watch/memory_kills.h"
#include "runtime/launch/watch/native_stack.h"
#include "runtime/launch/world/listener.h"
#include "runtime/launch/world/store_server.h"

namespace lockstep {
namespace {

constexpr int longest_wait_ms = 500;  // a clock that is not real time is read at least this often
constexpr int polling_ms = 10;        // for events that no descriptor reports
constexpr double watching_s = 0.5;    // interval between looks at the ranks' activity
constexpr int prefix_columns = 4;     // width of "[0] "
// Ranks that have not met after these times are reported. The first holds while they run, the
// second when they have ended.
constexpr double early_apart_s = 60, least_apart_s = 5;

// If stdout and stderr are the same file, the ranks' output there can share a pipe and keeps its
// order.
bool is_same_file(int a, int b) {
  struct stat of_a = {};
  struct stat of_b = {};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

// A rank that hangs, while its stacks are written to a file.
struct HungRank {
  HungRank(Hang the_hang, std::filesystem::path file, pid_t process)
      : hang(std::move(the_hang)), stack_file(std::move(file)), dump(process, stack_file) {}
  Hang hang;
  std::filesystem::path stack_file;
  StackDump dump;
};

class Run {
 public:
  Run(const LaunchSpec& spec, Clock& clock)
      : spec_(spec),
        clock_(clock),
        heartbeats_(spec.devices.size()),
        watch_(spec.devices.size(), spec.hang_after_s),
        supervision_(spec.grace_s, spec.stop_grace_s, spec.knows_hangup),
        kills_before_(read_memory_kills()),
        errors_(spec.devices.size()) {
    if (!spec.forward_output) return;
    show_on(STDOUT_FILENO);
    if (!is_same_file(STDOUT_FILENO, STDERR_FILENO)) show_on(STDERR_FILENO);
  }

  LaunchOutcome to_the_end() {
    start_all();
    while (!all_ended() && !supervision_.given_up()) {
      wait(polled_ ? polling_ms : longest_wait_ms);
      take_output();
      pass_input_on();
      take_signals();
      take_exits();
      watch_for_hangs();
      watch_for_meeting();
      report_hang();
      obey(supervision_.on_time(clock_.now_s()));
    }
    end_groups();
    if (std::holds_alternative<Finished>(supervision_.outcome()))
      say_apart(least_apart_s, "never met");
    show_the_rest();
    return outcome();
  }

 private:
  void start_all();
  void start(int rank, Rendezvous rendezvous);
  bool all_ended() const;
  void wait(int at_most_ms);
  void take_output();
  void pass_input_on();
  int standard_input();
  void take_event(std::size_t rank, std::string_view line);
  void take_signals();
  void take_exits();
  void note_first_failure();
  void watch_for_hangs();
  void report_hang();
  void watch_for_meeting();
  void say_apart(double after_s, const char* how);
  std::vector<bool> ended() const;
  void obey(const std::vector<Command>& commands);
  void end_groups();
  void show_the_rest();
  // One of our two output streams, on which the ranks' output is shown.
  struct Shown {
    Shown(int to, std::size_t ranks);
    int fd;
    bool is_terminal;
    OutputQueue queue;
    RankScreen screen;
    // A copy of our end of rank 0's pseudo-terminal.
    UniqueFd pseudo_terminal{};
  };
  void show_on(int fd);
  Shown& shown_of(StandardStream stream) const;
  bool is_stalled(StandardStream stream) const;
  Pipe output_of(std::size_t rank, StandardStream stream);
  std::vector<const ChildGroup*> groups() const;
  LaunchOutcome outcome();

  const LaunchSpec& spec_;
  Clock& clock_;
  SignalPipe signals_;
  Keeper keeper_;
  Heartbeats heartbeats_;
  HangWatch watch_;
  double next_look_s_ = 0;
  // For a program that does not use Lockstep, until a failure to meet was reported.
  std::optional<MeetingWatch> meeting_;
  double next_meeting_look_s_ = 0;
  std::optional<HungRank> hung_;
  // The place of the first failure, and the state of the other ranks then.
  std::string where_, others_;
  std::string memory_;
  Supervision supervision_;
  MemoryKills kills_before_;
  std::optional<StoreServer> store_;
  std::vector<std::optional<RankError>> errors_;  // by rank
  std::vector<std::unique_ptr<Shown>> shown_;     // stdout, and stderr if it is another file
  std::optional<InputPipe> input_;
  std::vector<RankProcess> ranks_;
  bool polled_ = false;  // whether a rank has no pidfd
};

void Run::start_all() {
  make_directories(spec_.log_dir);
  Rendezvous rendezvous{.heartbeat_fd = heartbeats_.fd()};
  rendezvous.port = choose_free_loopback_port();
  if (spec_.serves_store) rendezvous.store_fd = store_.emplace().door();
  const bool is_of_others = !spec_.serves_store && !shown_.empty() && !spec_.run_id.empty();
  if (is_of_others && spec_.devices.size() > 1)
    meeting_.emplace(rendezvous.port, sockets_of_this_host());
  std::cout.flush();
  std::fflush(stdout);
  ranks_.reserve(spec_.devices.size());
  for (std::size_t rank = 0; rank < spec_.devices.size(); ++rank) {
    start(static_cast<int>(rank), rendezvous);
  }
}

Run::Shown::Shown(int to, std::size_t ranks)
    : fd(to),
      is_terminal(::isatty(to) == 1),
      queue(to),
      screen(ranks, is_terminal, [this](std::string_view text) { queue.add(text); }) {}

void Run::show_on(int fd) { shown_.push_back(std::make_unique<Shown>(fd, spec_.devices.size())); }

// Makes the pipe for a rank's output. For rank 0 it is a pseudo-terminal if we write to a terminal.
// The rank's progress bars then look as they do without a launcher.
Pipe Run::output_of(std::size_t rank, StandardStream stream) {
  if (rank == 0 && !shown_.empty() && shown_of(stream).is_terminal) {
    Shown& shown = shown_of(stream);
    PseudoTerminal made = make_pseudo_terminal(shown.fd, prefix_columns);
    if (made.ours) {
      shown.pseudo_terminal = UniqueFd(::fcntl(made.ours.get(), F_DUPFD_CLOEXEC, 3));
      return {.read = std::move(made.ours), .write = std::move(made.theirs)};
    }
  }
  return make_pipe();
}

void Run::start(int rank, Rendezvous rendezvous) {
  const auto place = static_cast<std::size_t>(rank);
  RankLog log(spec_.log_dir, rank, spec_.log_limit_bytes);
  if (!spec_.log_mark.empty()) log.divide(spec_.log_mark);
  Pipe out = output_of(place, StandardStream::out), err, events;
  if (shown_.size() > 1) err = output_of(place, StandardStream::err);
  if (spec_.on_event) events = make_pipe();
  rendezvous.events_fd = events.write.get();
  const bool shows = rank == spec_.pass_stdout_rank;
  SpawnSpec child{
      .argv = spec_.argv,
      .environment = as_assignments(rank_environment(spec_, rank, rendezvous, this_environment())),
      .stdin_fd = rank == 0 ? standard_input() : -1,
      .stdout_fd = shows ? STDOUT_FILENO : out.write.get(),
      .stderr_fd = err.write ? err.write.get() : out.write.get(),
      .inherited = {rendezvous.heartbeat_fd},
      .announce_fd = keeper_.announce_fd()};
  if (rendezvous.store_fd >= 0) child.inherited.push_back(rendezvous.store_fd);
  if (events.write) child.inherited.push_back(events.write.get());
  const auto pipe_of = [&](Pipe& pipe, StandardStream stream) {
    RankPipe end{.fd = std::move(pipe.read), .stream = stream};
    if (!shown_.empty())
      end.show = [this, place, stream](std::string_view bytes) {
        shown_of(stream).screen.add(place, bytes, clock_.now_s());
      };
    return end;
  };
  std::vector<RankPipe> output;
  output.push_back(pipe_of(out, StandardStream::out));
  if (err.read) output.push_back(pipe_of(err, StandardStream::err));
  std::error_code ignored;  // the file may be left from an earlier start
  std::filesystem::remove(spec_.log_dir / cat("rank", rank, ".error.json"), ignored);
  ranks_.emplace_back(ChildGroup(spawn(child)), std::move(log), !shown_.empty(), std::move(output),
                      std::move(events.read),
                      [this, place](std::string_view line) { take_event(place, line); });
  if (input_ && rank == 0) input_->started();
  if (ranks_.back().group().pidfd() < 0) polled_ = true;
}

bool Run::all_ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const RankProcess& rank) { return rank.group().status().has_value(); });
}

void Run::wait(int at_most_ms) {
  std::vector<pollfd> watched = {{.fd = signals_.fd(), .events = POLLIN, .revents = 0}};
  auto watch = [&](int fd) {
    if (fd >= 0) watched.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  };
  double timeout_ms = hung_ ? polling_ms : at_most_ms;
  for (const auto& shown : shown_) {
    shown->queue.forget_progress();
    if (shown->queue.full()) watch(shown->queue.progress_fd());
    if (const auto due_s = shown->screen.due_s())
      timeout_ms = std::clamp((*due_s - clock_.now_s()) * 1000 + 1, 0.0, timeout_ms);
  }
  if (input_ && input_->fd() >= 0)
    watched.push_back({.fd = input_->fd(),
                       .events = static_cast<short>(input_->writes() ? POLLOUT : POLLIN),
                       .revents = 0});
  for (const RankProcess& rank : ranks_) {
    for (const int fd : rank.fds([this](StandardStream stream) { return is_stalled(stream); }))
      watch(fd);
    if (!rank.group().status()) watch(rank.group().pidfd());
  }
  if (const auto deadline_s = supervision_.deadline_s()) {
    const double left_ms = (*deadline_s - clock_.now_s()) * 1000 + 1;
    timeout_ms = std::clamp(left_ms, 0.0, timeout_ms);
  }
  const int result = ::poll(watched.data(), watched.size(), static_cast<int>(timeout_ms));
  LOCKSTEP_CHECK(result >= 0 || errno == EINTR);
}

void Run::take_output() {
  for (RankProcess& rank : ranks_) {
    rank.read([this](StandardStream stream) { return is_stalled(stream); });
    rank.keep_parts(clock_.now_s());
  }
  for (const auto& shown : shown_) {
    shown->screen.on_time(clock_.now_s());
    if (shown->pseudo_terminal) follow_size(shown->pseudo_terminal, shown->fd, prefix_columns);
  }
}

// Returns the descriptor from which rank 0 reads. A file or a pipe is passed directly. Input from a
// terminal goes through us, because the kernel stops background programs that read from it.
int Run::standard_input() {
  if (!spec_.gives_input) return -1;
  if (::isatty(STDIN_FILENO) != 1) return STDIN_FILENO;
  return input_.emplace().theirs();
}

void Run::pass_input_on() {
  if (!input_ || input_->fd() < 0) return;
  pollfd ready{.fd = input_->fd(),
               .events = static_cast<short>(input_->writes() ? POLLOUT : POLLIN),
               .revents = 0};
  if (::poll(&ready, 1, 0) > 0) input_->pass_on();
}

void Run::take_event(std::size_t rank, std::string_view line) {
  const nlohmann::json event = parse_json(line);
  if (!event.is_object()) return;
  if (auto error = rank_error(event))
    errors_[rank] = std::move(error);
  else if (rank == 0)
    spec_.on_event(event);
}

void Run::take_signals() {
  for (const int number : signals_.take()) {
    if (number != SIGUSR1) meeting_.reset();  // ranks that must stop need not meet any more
    const std::vector<Command> commands = supervision_.on_signal(number, clock_.now_s());
    obey(commands);
    const bool passed_on = !commands.empty() && commands[0].action != Action::kill;
    if (passed_on && spec_.on_signal) spec_.on_signal(number);
    if (passed_on && number != SIGUSR1 && !shown_.empty())
      shown_of(StandardStream::err)
          .queue.add(cat(signal_name(number), " was passed on to all ranks; again to kill them\n"));
  }
}

void Run::take_exits() {
  std::vector<Supervision::Exit> exits;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ChildGroup& group = ranks_[i].group();
    if (group.status() || !group.poll()) continue;
    if (i == 0)
      // Rank 0 ends last, unless something failed. Its end closes the store, so that no rank waits
      // there.
      store_.reset();
    const Phase phase = heartbeats_.read()[i].phase;
    const ExitStatus status = *group.status();
    exits.push_back({.rank = static_cast<int>(i),
                     .status = status,
                     .is_worker = phase != Phase::none,
                     .is_early = status.signal == 0 && status.code == exit_finished &&
                                 phase != Phase::none && phase != Phase::ending});
  }
  if (exits.empty()) return;
  const bool failed_before = supervision_.first_failure().has_value();
  obey(supervision_.on_exits(exits, clock_.now_s()));
  if (supervision_.first_failure() && !failed_before) note_first_failure();
}

// Records the facts about the failure when it is first seen.
void Run::note_first_failure() {
  const Supervision::Exit failure = *supervision_.first_failure();
  const std::vector<Heartbeat> heartbeats = heartbeats_.read();
  const Heartbeat& own = heartbeats[static_cast<std::size_t>(failure.rank)];
  if (own.phase != Phase::none) where_ = describe(own);
  others_ = describe_others(heartbeats, ended(), failure.rank);
  const MemoryKills now = read_memory_kills();
  // This is also the code of a shell whose child was killed.
  const bool killed = failure.status.code == 128 + SIGKILL;
  memory_ = killed ? explain_kill(kills_before_, now) : memory_ran_out(kills_before_, now);
}

std::vector<bool> Run::ended() const {
  std::vector<bool> ended;
  for (const RankProcess& rank : ranks_) ended.push_back(rank.group().status().has_value());
  return ended;
}

void Run::watch_for_hangs() {
  // These looks are rarer than lines of output, because each reads a file in /proc per rank.
  const double now_s = clock_.now_s();
  if (spec_.hang_after_s <= 0 || now_s < next_look_s_ || hung_ || supervision_.first_failure())
    return;
  next_look_s_ = now_s + watching_s;
  std::vector<bool> stopped;
  for (const RankProcess& rank : ranks_) stopped.push_back(rank.group().stopped());
  const auto hang = watch_.look(heartbeats_.read(), stopped, ended(), now_s);
  if (!hang) return;
  const auto rank = static_cast<std::size_t>(hang->rank);
  if (stopped[rank]) return obey(supervision_.on_hang(hang->rank, hang->how, now_s));
  const std::filesystem::path file = spec_.log_dir / cat("rank", rank, ".stack.txt");
  hung_.emplace(*hang, file, ranks_[rank].group().leader());
}

void Run::watch_for_meeting() {
  const double now_s = clock_.now_s();
  if (!meeting_ || now_s < next_meeting_look_s_) return;
  next_meeting_look_s_ = now_s + watching_s;
  std::vector<pid_t> leaders;
  for (const RankProcess& rank : ranks_)
    if (!rank.group().status()) leaders.push_back(rank.group().leader());
  if (leaders.size() < ranks_.size()) return;  // the remaining ranks cannot meet any more
  meeting_->look(leaders, now_s);
  say_apart(early_apart_s, "have not met so far");
}

// Reports once that the ranks have not met within `after_s`.
void Run::say_apart(double after_s, const char* how) {
  if (!meeting_ || meeting_->apart_s() < after_s) return;
  meeting_.reset();
  shown_of(StandardStream::err)
      .queue.add(cat("note: the ", ranks_.size(), " ranks ", how,
                     ": none of them opened MASTER_PORT, as init_process_group does. So each runs "
                     "the whole program by itself, and they may overwrite each other's files. "
                     "`lockstep help only one GPU` says what a script needs; for independent runs "
                     "there is `lockstep batch run --gpus 1`\n"));
}

// Reports the hang once the stacks are written, or once they turn out to be unavailable.
void Run::report_hang() {
  // The debugger must end, because it would hide the end of a killed rank.
  if (supervision_.interrupted() || supervision_.first_failure()) hung_.reset();
  if (!hung_) return;
  const std::optional<std::string> fault = hung_->dump.poll();
  if (!fault) return;
  const std::string where = fault->empty() ? cat("; its stacks are in ", hung_->stack_file.string())
                                           : cat("; its stacks could not be had: ", *fault);
  obey(supervision_.on_hang(hung_->hang.rank, hung_->hang.how + where, clock_.now_s()));
  hung_.reset();
}

void Run::obey(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    for (const RankProcess& rank : ranks_) {
      const ChildGroup& group = rank.group();
      switch (command.action) {
        case Action::pass_on_to_leaders:
          group.signal_leader(command.signal);
          break;
        case Action::pass_on_to_groups:
          group.signal_all(command.signal);
          break;
        case Action::terminate:
          group.signal_all(SIGTERM);
          break;
        case Action::kill:
          group.signal_all(SIGKILL);
          break;
      }
    }
  }
}

std::vector<const ChildGroup*> Run::groups() const {
  std::vector<const ChildGroup*> all;
  for (const RankProcess& rank : ranks_) all.push_back(&rank.group());
  return all;
}

// Called when the ranks have ended. Processes that they started in their groups may still run.
void Run::end_groups() {
  if (any_alive(groups()) && !supervision_.given_up()) {
    obey(supervision_.on_all_ended(clock_.now_s()));
    while (any_alive(groups()) && !supervision_.given_up()) {
      wait(polling_ms);
      take_output();
      take_signals();
      obey(supervision_.on_time(clock_.now_s()));
    }
  }
  for (RankProcess& rank : ranks_) rank.read_rest();
  for (const auto& shown : shown_)
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) shown->screen.finish(rank);
}

// Waits until our output is read, for as long as the reader takes. After an interrupt, a stalled
// reader gets only the grace period, and a further signal ends the wait.
void Run::show_the_rest() {
  const double end_s = clock_.now_s() + spec_.grace_s;
  for (const auto& shown : shown_) {
    while (!shown->queue.wait_s(0.05)) {
      for (const int number : signals_.take())
        if (number != SIGUSR1) return;
      if (supervision_.interrupted() && clock_.now_s() > end_s) return;
    }
  }
}

Run::Shown& Run::shown_of(StandardStream stream) const {
  return stream == StandardStream::err && shown_.size() > 1 ? *shown_[1] : *shown_[0];
}

// Whether the reader has not kept up. If so, the ranks' output stays in their pipes.
bool Run::is_stalled(StandardStream stream) const {
  return !shown_.empty() && shown_of(stream).queue.full();
}

LaunchOutcome Run::outcome() {
  LaunchOutcome outcome = supervision_.outcome();
  if (auto* failed = std::get_if<RankFailed>(&outcome)) {
    const auto rank = static_cast<std::size_t>(failed->rank);
    failed->where = where_;
    failed->others = others_;
    failed->memory = memory_;
    failed->error = errors_[rank];
    failed->device = describe(spec_.devices[rank]);
    failed->last_lines = ranks_[rank].last_lines();
    failed->log = ranks_[rank].log_path();
  }
  return outcome;
}

}  // namespace

LaunchOutcome launch(const LaunchSpec& spec, Clock& clock) {
  LOCKSTEP_CHECK(!spec.argv.empty() && !spec.devices.empty());
  return Run(spec, clock).to_the_end();
}

}  // namespace lockstep
