#include "tools/cli/monitor/sampling.h"

#include <unistd.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/options.h"
#include "tools/cli/context.h"

namespace lockstep::cli {

double driver_start_s() {
  constexpr double otherwise_s = 60;
  const char* const text = std::getenv("LOCKSTEP_DRIVER_TIMEOUT");
  if (!text || !*text) return otherwise_s;
  try {
    return parse_duration(text).seconds;
  } catch (const Error& error) {
    throw Error(cat("LOCKSTEP_DRIVER_TIMEOUT: ", error.what()), error.hint());
  }
}

void say_that_it_waits(double hanging_s) {
  say(cat("the NVIDIA driver has not answered for ", fixed(hanging_s, 0), " s; waiting"));
}

void end_without_driver(int code) {
  say(cat("error: ", no_answer, "\n\nhint: ", why_no_answer));
  _exit(code);
}

void check_gpus(const GpuReader& reader, const std::string& purpose) {
  if (!reader.gpus().empty()) return;
  const std::string why = reader.why_absent();
  throw Error(
      cat("there is no GPU to ", purpose, ": ", why.empty() ? "the NVIDIA driver shows none" : why),
      "see lockstep devices");
}

int with_sampler(Sampler& sampler, const std::function<int()>& command) {
  constexpr double hangs_s = 0.1;
  int code = 0;
  try {
    code = command();
  } catch (...) {
    if (sampler.hanging_s() > hangs_s) sampler.abandon();
    throw;
  }
  if (sampler.hanging_s() > hangs_s) {
    sampler.abandon();
    _exit(code);
  }
  return code;
}

}  // namespace lockstep::cli
