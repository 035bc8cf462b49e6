#include "worker/failure.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/events.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string_view>

namespace lockstep {
namespace {

// LibTorch reads this variable.
constexpr const char* frames_variable = "TORCH_SHOW_CPP_STACKTRACES";

bool frames_are_wanted() {
  const char* const value = std::getenv(frames_variable);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

RankError describe_failure(const std::exception& error) {
  RankError result{.what = message_of(error)};
  // NCCL and our own code report a lack of memory in other exceptions, so the message is searched
  // too.
  result.out_of_memory =
      is_out_of_memory(error) || result.what.find("out of memory") != result.what.npos;
  if (const auto* const of_user = dynamic_cast<const Error*>(&error)) {
    result.hint = of_user->hint();
    result.is_users = true;
    return result;
  }
  result.hint = advice_on(result.what);
  const std::string frames = frames_of(error);
  if (frames.empty()) return result;
  if (frames_are_wanted())
    result.frames = frames;
  else if (result.hint.empty())
    result.hint = cat("with ", frames_variable, "=1 it says where in C++ it was thrown");
  return result;
}

void tell_failure(const RankError& error) {
  say_error(error.frames.empty() ? error.what : cat(error.what, "\n\n", error.frames), error.hint);
  EventWriter().write(to_json(error));
}

int exit_code_of(const RankError& error) { return error.is_users ? exit_usage : exit_failed; }

}  // namespace lockstep
