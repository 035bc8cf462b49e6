// Common start and end of commands that sample GPUs. They also work if the driver hangs.
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

// Reports that the driver does not answer, and ends the program, because a hanging call cannot be
// left.
[[noreturn]] void end_without_driver(int code);

// How many seconds the driver may take to start: LOCKSTEP_DRIVER_TIMEOUT, or a minute. Some drivers
// wake each GPU first, which takes a while. Throws Error if the variable is no time.
double driver_start_s();
void say_that_it_waits(double hanging_s);

// Returns the result of `ask`, which waits for the driver's start. Ends the program with `code` if
// the driver does not answer.
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

// Throws Error with the reason if there is no GPU. purpose: "watch", for example.
void check_gpus(const GpuReader& reader, const std::string& purpose);

// Runs `command`, which uses the sampler, and returns its exit code. If a driver call hangs at the
// end, detaches the sampler and ends the program, because NVML cannot be shut down then.
int with_sampler(Sampler& sampler, const std::function<int()>& command);

}  // namespace lockstep::cli
