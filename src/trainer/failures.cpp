#include "trainer/failures.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/weight_check.h"
#include "plan/memory_help.h"
#include "plan/words.h"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>

namespace lockstep {
namespace {

std::string label(const TrainerSetup& setup, std::size_t rank) {
  return cat("rank ", rank, " (", device_label(setup.plan.devices[rank]), ")");
}

}  // namespace

void fail_out_of_memory(const TrainerSetup& setup, const BatchPlan& batch,
                        const StepResult& result) {
  std::string where = "a rank";
  for (std::size_t rank = result.ranks.size(); rank-- > 0;)
    if (const StepPhase phase = result.ranks[rank].out_of_memory; phase != StepPhase::none)
      where = cat(label(setup, rank), " in ", phase_name(phase));
  const std::string help =
      memory_help(setup.plan, setup.options, batch.micro, setup.recipe.smaller_sample());
  if (setup.plan.exact)
    throw Error(cat("out of memory on ", where, ": a grain of ", batch.micro,
                    " does not fit, and exact = true keeps the grain of a run"),
                batch.micro > 1 ? cat("start again with a smaller batch.micro; ", help) : help);
  throw Error(cat("out of memory on ", where, " with micro-batch ", batch.micro), help);
}

void require_same_weights(const TrainerSetup& setup, const Arena& arena, std::int64_t step) {
  const WeightDifference difference = compare_weights(arena, setup.group);
  if (!difference.found()) return;
  std::string who;
  for (const int rank : difference.ranks)
    who += cat(who.empty() ? "" : ", ", label(setup, static_cast<std::size_t>(rank)));
  throw std::runtime_error(cat("after step ", step, " the weights of ", who,
                               " differ from those of the other ranks, first in ",
                               difference.parameter,
                               ": a device computes wrongly, or an operation in the model or the "
                               "loss depends on the rank"));
}

void check_grain(const nlohmann::json& state, const Plan& plan) {
  if (!plan.exact || !state.contains("grain") || state["grain"] == plan.exact->grain) return;
  throw Error(cat("the checkpoint's grain is ", state["grain"].dump(), ", but the plan's is ",
                  plan.exact->grain),
              cat("set batch.micro=", state["grain"].dump()));
}

void explain_operator(const TrainOptions& options, const c10::Error& error) {
  const std::string what = error.what_without_backtrace();
  const std::size_t end = what.find(" does not have a deterministic implementation");
  if (end == std::string::npos) return;
  const char* const option = options.exact ? "exact" : "deterministic";
  throw Error(cat(option, " = true, but the operator ", what.substr(0, end),
                  " has no form here that gives bitwise the same result each time"),
              cat("use another operator in the model or the loss, or set ", option, "=false"));
}

}  // namespace lockstep
