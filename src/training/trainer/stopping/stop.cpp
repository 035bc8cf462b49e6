// Signal handlers, which only set flags, and the arithmetic of quotas.
#include "training/trainer/stopping/stop.h"

#include "core/base/process/signal_name.h"
#include "core/base/text/text.h"
#include "runtime/run/progress/time_left.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string_view>

namespace lockstep {
namespace {

std::atomic<int> caught{0};
std::atomic<double> last_s[3] = {-1, -1, -1};  // the time of the last SIGINT, SIGTERM and SIGHUP

int place_of(int signal) { return signal == SIGINT ? 0 : signal == SIGTERM ? 1 : 2; }

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // safe in a signal handler
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::array<char, 4096> state_file{}, new_state_file{};  // empty = no file

// Async-signal-safe, like everything that a handler calls.
void write_interrupted() {
  if (state_file[0] == '\0') return;
  const int fd =
      open(new_state_file.data(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::array<char, 128> text{};
  constexpr std::string_view begin = R"({"state":"interrupted","why":"a second signal","time":)";
  char* end = std::copy(begin.begin(), begin.end(), text.begin());
  end = std::to_chars(end, text.end() - 2, static_cast<long long>(now.tv_sec)).ptr;
  *end++ = '}';
  *end++ = '\n';
  const auto size = end - text.begin();
  const bool whole = write(fd, text.data(), static_cast<std::size_t>(size)) == size;
  close(fd);
  if (whole) rename(new_state_file.data(), state_file.data());
}

extern "C" void on_stop_signal(int signal) {
  int none = 0;
  caught.compare_exchange_strong(none, signal);
  if (signal == SIGUSR1) return;
  constexpr double echo_s = 0.2;
  const double now = now_s();
  const double before = last_s[place_of(signal)].exchange(now);
  if (before < 0 || now - before <= echo_s) return;
  write_interrupted();
  _exit(130);
}

}  // namespace

void note_second_signal_in(const std::filesystem::path& file) {
  const std::string path = file.string();
  if (path.size() > 4000) return;
  const std::string temporary = path + ".new";
  std::copy(temporary.begin(), temporary.end(), new_state_file.begin());
  std::copy(path.begin(), path.end(), state_file.begin());
}

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;  // stays ignored under nohup
    sigaction(signal, &action, nullptr);
  }
}

std::string stop_signal() {
  const int signal = caught.load();
  return signal == 0 ? "" : signal_name(signal);
}

Quota::Quota(Clock& clock, const QuotaLimits& limits, double spent_s, double begun_s)
    : clock_(clock),
      limits_(limits),
      begin_s_(clock.now_s()),
      spent_s_(spent_s),
      begun_s_(begun_s) {
  find_allowed();
}

void Quota::find_allowed() {
  const auto left_s = [&](Duration limit, double gone_s) {
    return std::max(limit.seconds - limits_.reserve.seconds - gone_s, 1e-9);
  };
  if (limits_.after.seconds > 0) {
    allowed_s_ = left_s(limits_.after, begun_s_);
    after_decides_ = true;
  }
  if (limits_.budget.seconds > 0) {
    const double left = left_s(limits_.budget, spent_s_);
    if (after_decides_ && allowed_s_ <= left) return;
    allowed_s_ = left;
    after_decides_ = false;
  }
}

double Quota::elapsed_s() const { return spent_s_ + clock_.now_s() - begin_s_; }

double Quota::left_s() const {
  if (allowed_s_ == 0) return std::numeric_limits<double>::infinity();
  return allowed_s_ - (clock_.now_s() - begin_s_);
}

double Quota::left_in_all_s() const { return left_s() + limits_.reserve.seconds; }

bool Quota::over(double more_s) const { return left_s() <= 0 || left_s() < more_s; }

bool Quota::keep_for_predictions(double seconds) {
  if (allowed_s_ == 0) return false;
  constexpr double least_growth = 1.05;
  const double most_s = (allowed_s_ + limits_.reserve.seconds) / 2;
  const double kept_s = std::min(seconds, most_s);
  if (kept_s <= least_growth * limits_.reserve.seconds) return false;
  limits_.reserve.seconds = kept_s;
  keeps_for_predictions_ = true;
  find_allowed();
  return true;
}

std::string Quota::kept_text() const {
  if (limits_.reserve.seconds <= 0) return "";
  if (keeps_for_predictions_)
    return cat(" but for ", format_span(limits_.reserve.seconds), " that predictions need");
  return cat(" but for stop.reserve = ", format_duration(limits_.reserve));
}

std::string Quota::reason() const {
  if (after_decides_)
    return cat("stop.after = ", format_duration(limits_.after), " is over", kept_text());
  return cat("stop.budget = ", format_duration(limits_.budget), " is spent", kept_text());
}

}  // namespace lockstep
