// The common start and end of commands that sample GPUs. The commands also end if the driver hangs.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "tools/monitor/sampler.h"

namespace lockstep::cli {

constexpr const char* no_answer = "the NVIDIA driver does not answer";
constexpr const char* why_no_answer =
    "nvidia-smi waits for it likewise; dmesg | grep -i nvrm may say why";

// Reports that the driver does not answer, and ends the program with `code`. A hanging call of the
// driver cannot be cancelled.
[[noreturn]] void end_without_driver(int code);

// Returns how many seconds the driver may take to start: LOCKSTEP_DRIVER_TIMEOUT, or else a minute.
// Some drivers first wake each GPU, which takes time. Throws Error if the variable is not a
// duration.
double driver_start_s();
void say_that_it_waits(double hanging_s);

// Returns the result of `ask`, which may wait until the driver has started. `ask` runs on its own
// thread. Ends the program with `code` if `ask` does not return within driver_start_s().
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

// Throws Error with the reason if there is no GPU. purpose: a verb for the message, such as
// "watch".
void check_gpus(const GpuReader& reader, const std::string& purpose);

// Runs `command`, which uses the sampler. Returns the exit code of `command`. If a driver call
// hangs at the end, NVML cannot be shut down. The sampler is then detached, and the program ends
// with that exit code. An exception of `command` is rethrown.
int with_sampler(Sampler& sampler, const std::function<int()>& command);

}  // namespace lockstep::cli
