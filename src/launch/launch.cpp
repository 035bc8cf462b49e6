// Starts the ranks and carries out what Supervision decides until all of them are gone.
#include "launch/launch.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>

#include "base/check.h"
#include "base/descriptors.h"
#include "base/files.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/write_all.h"
#include "launch/breadcrumbs.h"
#include "launch/hang_watch.h"
#include "launch/keeper.h"
#include "launch/listener.h"
#include "launch/native_stack.h"
#include "launch/rank_environment.h"
#include "launch/rank_process.h"
#include "launch/signals.h"
#include "launch/supervision.h"

namespace lockstep {
namespace {

constexpr int longest_wait_ms = 500;  // a clock that is not real time is looked at this often
constexpr int polling_ms = 10;        // where nothing tells of an end
constexpr double watching_s = 0.5;    // between two looks at what the ranks do

class Run {
 public:
  Run(const LaunchSpec& spec, Clock& clock)
      : spec_(spec),
        clock_(clock),
        crumbs_(spec.devices.size()),
        watch_(spec.devices.size(), spec.hang_after_s),
        supervision_(spec.grace_s, spec.stop_grace_s, spec.knows_hangup),
        events_([this](std::string_view line) { spec_.on_event(line); }) {}

  LaunchOutcome to_the_end() {
    start_all();
    while (!all_ended() && !supervision_.given_up()) {
      wait(polled_ ? polling_ms : longest_wait_ms);
      take_output();
      take_signals();
      take_exits();
      watch_for_hangs();
      obey(supervision_.on_time(clock_.now_s()));
    }
    end_groups();
    return outcome();
  }

 private:
  void start_all();
  void start(int rank, Rendezvous rendezvous);
  bool all_ended() const;
  void wait(int at_most_ms);
  void take_output();
  void take_events();
  void take_signals();
  void take_exits();
  void watch_for_hangs();
  std::string stacks_of(std::size_t rank) const;
  std::vector<bool> ended() const;
  void obey(const std::vector<Command>& commands);
  void end_groups();
  void forward(int rank, std::string_view line);
  std::vector<const ChildGroup*> groups() const;
  LaunchOutcome outcome();

  const LaunchSpec& spec_;
  Clock& clock_;
  SignalPipe signals_;
  Keeper keeper_;
  Breadcrumbs crumbs_;
  HangWatch watch_;
  double next_look_s_ = 0;
  std::string where_;  // the first failure happened
  Supervision supervision_;
  Listener listener_;
  Pipe event_pipe_;
  Lines events_;
  std::vector<RankProcess> ranks_;
  bool polled_ = false;  // a rank has no pidfd
  bool stdout_works_ = true;
};

void Run::start_all() {
  make_directories(spec_.log_dir);
  Rendezvous rendezvous{.crumbs_fd = crumbs_.fd()};
  if (spec_.own_listener) {
    listener_ = listen_on_loopback();
    rendezvous.port = listener_.port;
    rendezvous.listen_fd = listener_.socket.get();
  } else {
    rendezvous.port = choose_free_loopback_port();
  }
  if (spec_.on_event) {
    event_pipe_ = make_pipe();
    set_nonblocking(event_pipe_.read.get());
    rendezvous.events_fd = event_pipe_.write.get();
  }
  std::cout.flush();
  std::fflush(stdout);
  ranks_.reserve(spec_.devices.size());
  for (std::size_t rank = 0; rank < spec_.devices.size(); ++rank) {
    start(static_cast<int>(rank), rendezvous);
  }
  // Rank 0 alone holds them from here on: their end is its end.
  listener_.socket.reset();
  event_pipe_.write.reset();
}

void Run::start(int rank, Rendezvous rendezvous) {
  RankLog log = open_log(spec_.log_dir, rank);
  Pipe output;
  if (spec_.forward_output) output = make_pipe();
  const int sink = output.write ? output.write.get() : log.file.get();
  const bool shows = rank == spec_.pass_stdout_rank;
  SpawnSpec child{
      .argv = spec_.argv,
      .environment = as_assignments(rank_environment(spec_, rank, rendezvous, this_environment())),
      .stdout_fd = shows ? STDOUT_FILENO : sink,
      .stderr_fd = sink,
      .inherited = {rendezvous.crumbs_fd},
      .announce_fd = keeper_.announce_fd()};
  if (rank == 0) {
    if (rendezvous.listen_fd >= 0) child.inherited.push_back(rendezvous.listen_fd);
    if (rendezvous.events_fd >= 0) child.inherited.push_back(rendezvous.events_fd);
  }
  ranks_.emplace_back(ChildGroup(spawn(child)), std::move(log), std::move(output.read),
                      [this, rank](std::string_view line) { forward(rank, line); });
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
  watch(event_pipe_.read.get());
  for (const RankProcess& rank : ranks_) {
    watch(rank.output_fd());
    if (!rank.group().status()) watch(rank.group().pidfd());
  }
  double timeout_ms = at_most_ms;
  if (const auto deadline_s = supervision_.deadline_s()) {
    const double left_ms = (*deadline_s - clock_.now_s()) * 1000 + 1;
    timeout_ms = std::clamp(left_ms, 0.0, timeout_ms);
  }
  const int result = ::poll(watched.data(), watched.size(), static_cast<int>(timeout_ms));
  LOCKSTEP_CHECK(result >= 0 || errno == EINTR);
}

void Run::take_output() {
  take_events();
  for (RankProcess& rank : ranks_) rank.copy_output();
}

void Run::take_events() {
  char buffer[65536];
  while (event_pipe_.read) {
    const ssize_t got = ::read(event_pipe_.read.get(), buffer, sizeof buffer);
    if (got > 0) events_.add({buffer, static_cast<std::size_t>(got)});
    if (got == 0) event_pipe_.read.reset();
    if (got < 0 && errno != EINTR) return;
  }
}

void Run::take_signals() {
  for (const int number : signals_.take()) {
    obey(supervision_.on_signal(number, clock_.now_s()));
  }
}

void Run::take_exits() {
  std::vector<Supervision::Exit> exits;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ChildGroup& group = ranks_[i].group();
    if (!group.status() && group.poll()) exits.push_back({static_cast<int>(i), *group.status()});
  }
  if (exits.empty()) return;
  const bool failed_before = supervision_.first_failure().has_value();
  obey(supervision_.on_exits(exits, clock_.now_s()));
  const auto failure = supervision_.first_failure();
  if (!failure || failed_before) return;
  const std::vector<Crumb> crumbs = crumbs_.read();
  const Crumb& own = crumbs[static_cast<std::size_t>(failure->rank)];
  where_ = cat(own.activity == Activity::none ? "" : " " + describe(own),
               describe_others(crumbs, ended(), failure->rank));
}

std::vector<bool> Run::ended() const {
  std::vector<bool> ended;
  for (const RankProcess& rank : ranks_) ended.push_back(rank.group().status().has_value());
  return ended;
}

void Run::watch_for_hangs() {
  // Not at every line of output: each look reads a file of /proc a rank.
  const double now_s = clock_.now_s();
  if (spec_.hang_after_s <= 0 || now_s < next_look_s_ || supervision_.first_failure()) return;
  next_look_s_ = now_s + watching_s;
  std::vector<bool> stopped;
  for (const RankProcess& rank : ranks_) stopped.push_back(rank.group().stopped());
  const auto hang = watch_.look(crumbs_.read(), stopped, ended(), now_s);
  if (!hang) return;
  const auto rank = static_cast<std::size_t>(hang->rank);
  const std::string where = stopped[rank] ? "" : stacks_of(rank);
  obey(supervision_.on_hang(hang->rank, hang->how + where, clock_.now_s()));
}

// In words, where the stacks of a rank that hangs are now.
std::string Run::stacks_of(std::size_t rank) const {
  const std::filesystem::path file = spec_.log_dir / cat("rank", rank, ".stack.txt");
  const std::string fault = write_stacks(ranks_[rank].group().leader(), file);
  return fault.empty() ? cat("; its stacks are in ", file.string())
                       : cat("; its stacks could not be had: ", fault);
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

// The ranks have ended; what they started in their groups may not have.
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
  take_events();
  for (RankProcess& rank : ranks_) rank.finish_output();
}

void Run::forward(int rank, std::string_view line) {
  if (stdout_works_) stdout_works_ = write_all(STDOUT_FILENO, cat("[", rank, "] ", line, "\n"));
}

LaunchOutcome Run::outcome() {
  LaunchOutcome outcome = supervision_.outcome();
  if (auto* failed = std::get_if<RankFailed>(&outcome)) {
    const auto rank = static_cast<std::size_t>(failed->rank);
    failed->how += where_;
    failed->device = describe(spec_.devices[rank]);
    failed->last_lines = ranks_[rank].last_lines();
  }
  return outcome;
}

}  // namespace

LaunchOutcome launch(const LaunchSpec& spec, Clock& clock) {
  LOCKSTEP_CHECK(!spec.argv.empty() && !spec.devices.empty());
  return Run(spec, clock).to_the_end();
}

}  // namespace lockstep
