// What commands that sample GPUs share: their begin, and their end where the driver hangs.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "monitor/sampler.h"

namespace lockstep::cli {

constexpr const char* no_answer = "the NVIDIA driver does not answer";
constexpr const char* why_no_answer =
    "nvidia-smi waits for it likewise; dmesg | grep -i nvrm may say why";

// Says that the driver does not answer, and ends the program: there is no way out of a call that
// hangs.
[[noreturn]] void end_without_driver(int code);

// Seconds for the driver to start: some wake each GPU first, which takes a while.
// LOCKSTEP_DRIVER_TIMEOUT or a minute. Throws Error where that is no time.
double driver_start_s();
void say_that_it_waits(double hanging_s);

// What `ask` gives, of the driver's start; ends the program with `code` where it does not answer.
template <class Ask>
auto answer_in_time(Ask ask, int code) {
  using Seconds = std::chrono::duration<double>;
  const double most_s = driver_start_s();
  std::packaged_task<decltype(ask())()> task(std::move(ask));
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  const double quiet_s = std::min(most_s, driver_patience_s);
  if (answer.wait_for(Seconds(quiet_s)) == std::future_status::ready) return answer.get();
  if (most_s > quiet_s) say_that_it_waits(quiet_s);
  if (answer.wait_for(Seconds(most_s - quiet_s)) != std::future_status::ready)
    end_without_driver(code);
  return answer.get();
}

// Throws Error where there is no GPU to "watch", say, with the reason.
void check_gpus(const GpuReader& reader, const std::string& purpose);

// The code of `command`, which uses the sampler. Where a driver call hangs at its end the sampler
// is left to itself, and the program ends here: the library cannot be shut down.
int with_sampler(Sampler& sampler, const std::function<int()>& command);

}  // namespace lockstep::cli
