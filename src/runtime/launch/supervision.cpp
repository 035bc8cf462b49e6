#include "runtime/launch/supervision.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "core/base/process/signal_name.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// timeout(1) and Slurm send a signal twice at once. A person who repeats a signal takes longer.
constexpr double echo_s = 0.2;
// A process that still lives this long after SIGKILL hangs in the kernel.
constexpr double killing_s = 10;

}  // namespace

Supervision::Supervision(double grace_s, std::function<double()> stop_grace_s,
                         bool ranks_know_hangup)
    : grace_s_(grace_s),
      stop_grace_s_(std::move(stop_grace_s)),
      ranks_know_hangup_(ranks_know_hangup) {}

int Supervision::passed_as(int number) const {
  return number == SIGHUP && !ranks_know_hangup_ ? SIGTERM : number;
}

std::vector<Command> Supervision::enter(Phase phase, double now_s) {
  if (phase <= phase_) return {};
  phase_ = phase;
  switch (phase) {
    case Phase::stopping:
      stop_grace_given_s_ = stop_grace_s_();
      deadline_s_ = now_s + stop_grace_given_s_;
      return {};
    case Phase::terminating:
      deadline_s_ = now_s + grace_s_;
      return {{Action::terminate}};
    case Phase::killing:
      deadline_s_ = now_s + killing_s;
      return {{Action::kill}};
    default:
      deadline_s_.reset();
      return {};
  }
}

std::vector<Command> Supervision::on_signal(int number, double now_s) {
  if (number != SIGUSR1) return interrupt(number, now_s);
  const bool again = std::count(passed_on_.begin(), passed_on_.end(), number) > 0;
  if (again || phase_ >= Phase::terminating) return {};
  passed_on_.push_back(number);
  return {{Action::pass_on_to_leaders, number}};
}

std::vector<Command> Supervision::interrupt(int number, double now_s) {
  if (interrupted_s_ && now_s - *interrupted_s_ < echo_s) return {};
  if (interrupted_s_ || phase_ >= Phase::terminating) {
    if (!failure_ && !all_ended_ && !interrupted_) {
      interrupted_ = true;
      why_interrupted_ = cat("a second interrupt (", signal_name(number), ")");
    }
    return enter(Phase::killing, now_s);
  }
  interrupted_s_ = now_s;
  passed_on_.push_back(number);
  enter(Phase::stopping, now_s);
  if (number == SIGINT) return {{Action::pass_on_to_groups, SIGINT}};
  return {{Action::pass_on_to_leaders, passed_as(number)}};
}

bool Supervision::by_signal_passed_on(const ExitStatus& status) const {
  return std::any_of(passed_on_.begin(), passed_on_.end(), [&](int number) {
    const int sent = passed_as(number);
    return status.signal == sent || status.code == 128 + sent;
  });
}

bool Supervision::failed(const Exit& exit) const {
  const ExitStatus& status = exit.status;
  if (status.signal != 0 || exit.is_early) return true;
  if (status.code == exit_stopped) return !exit.is_worker && passed_on_.empty();
  return status.code != exit_finished;
}

std::string Supervision::first_signal() const {
  return passed_on_.empty() ? "a signal" : signal_name(passed_on_.front());
}

std::vector<Command> Supervision::on_exits(const std::vector<Exit>& exits, double now_s) {
  const Exit* first = nullptr;
  for (const Exit& exit : exits) {
    if (!failed(exit)) {
      stopped_ = stopped_ || exit.status.code == exit_stopped;
      continue;
    }
    if (!first || (first->status.signal == 0 && exit.status.signal != 0)) first = &exit;
  }
  if (!first || failure_ || interrupted_) return {};
  if (by_signal_passed_on(first->status)) {
    interrupted_ = true;
    why_interrupted_ = cat("ended by ", first_signal());
  } else {
    failure_ = *first;
  }
  return enter(Phase::terminating, now_s);
}

std::vector<Command> Supervision::on_hang(int rank, const std::string& how, double now_s) {
  if (failure_ || interrupted_ || phase_ >= Phase::terminating) return {};
  failure_ = Exit{.rank = rank, .status = {.code = exit_failed, .signal = 0}};
  hang_ = how;
  return enter(Phase::terminating, now_s);
}

std::vector<Command> Supervision::on_time(double now_s) {
  if (!deadline_s_ || now_s < *deadline_s_) return {};
  switch (phase_) {
    case Phase::stopping:
      interrupted_ = true;
      why_interrupted_ =
          cat("it did not stop within ", stop_grace_given_s_, " s of ", first_signal());
      return enter(Phase::terminating, now_s);
    case Phase::terminating:
      return enter(Phase::killing, now_s);
    default:
      return enter(Phase::given_up, now_s);
  }
}

std::vector<Command> Supervision::on_all_ended(double now_s) {
  all_ended_ = true;
  return enter(Phase::terminating, now_s);
}

LaunchOutcome Supervision::outcome() const {
  if (failure_ && failure_->is_early)
    return RankFailed{.rank = failure_->rank,
                      .how = "something called exit() before it was done",
                      .exit_code = exit_failed};
  if (failure_) {
    return RankFailed{.rank = failure_->rank,
                      .how = hang_.empty() ? describe(failure_->status) : hang_,
                      .exit_code = failure_->status.code};
  }
  if (interrupted_) return Interrupted{.why = why_interrupted_};
  if (stopped_) return Stopped{.why = passed_on_.empty() ? "" : signal_name(passed_on_.back())};
  return Finished{};
}

std::string describe(const ExitStatus& status) {
  if (status.signal == 0) return cat("exit code ", status.code);
  return cat("killed by signal ", status.signal, " (", ::strsignal(status.signal), ")");
}

}  // namespace lockstep
