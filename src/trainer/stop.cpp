// Signal handlers that only set a flag, and quota arithmetic.
#include "trainer/stop.h"

#include "base/text.h"

#include <unistd.h>
#include <csignal>
#include <ctime>

#include <algorithm>
#include <atomic>

namespace lockstep {
namespace {

std::atomic<int> caught{0};
std::atomic<double> last_s[3] = {-1, -1, -1};  // of SIGINT, SIGTERM and SIGHUP

int place_of(int signal) { return signal == SIGINT ? 0 : signal == SIGTERM ? 1 : 2; }

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // safe in a signal handler
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

extern "C" void on_stop_signal(int signal) {
  int none = 0;
  caught.compare_exchange_strong(none, signal);
  if (signal == SIGUSR1) return;
  constexpr double echo_s = 0.2;
  const double now = now_s();
  const double before = last_s[place_of(signal)].exchange(now);
  if (before >= 0 && now - before > echo_s) _exit(130);
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup
    sigaction(signal, &action, nullptr);
  }
}

std::string stop_signal() {
  switch (caught.load()) {
    case 0:
      return "";
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "SIGUSR1";
  }
}

Quota::Quota(Clock& clock, Duration after, Duration budget, double spent_s)
    : clock_(clock), after_(after), budget_(budget), begin_s_(clock.now_s()), spent_s_(spent_s) {
  if (after_.seconds > 0) allowed_s_ = after_.seconds;
  if (budget_.seconds > 0) {
    const double left = std::max(budget_.seconds - spent_s_, 1e-9);
    allowed_s_ = allowed_s_ > 0 ? std::min(allowed_s_, left) : left;
  }
}

double Quota::elapsed_s() const { return spent_s_ + clock_.now_s() - begin_s_; }

bool Quota::over() const { return allowed_s_ > 0 && clock_.now_s() - begin_s_ >= allowed_s_; }

std::string Quota::reason() const {
  if (after_.seconds > 0 && allowed_s_ == after_.seconds)
    return cat("stop.after = ", format_duration(after_), " is over");
  return cat("stop.budget = ", format_duration(budget_), " is spent");
}

}  // namespace lockstep
