#include "training/trainer/loop/failures.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "planning/words.h"
#include "runtime/run/progress/progress_text.h"
#include "training/distributed/first_failure.h"
#include "training/parameters/weight_check.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace lockstep {
namespace {

std::string label(const TrainerSetup& setup, std::size_t rank) {
  return cat("rank ", rank, " (", device_label(setup.plan.devices[rank]), ")");
}

}  // namespace

void fail_out_of_memory(const TrainerSetup& setup, const BatchPlan& batch, const StepResult& result,
                        const std::string& own) {
  std::string where = "a rank";
  for (std::size_t rank = result.ranks.size(); rank-- > 0;)
    if (const Phase phase = result.ranks[rank].out_of_memory; phase != Phase::none)
      where = cat(label(setup, rank), " in ", phase_name(phase));
  const std::string text = first_text(setup.group, "out of memory", own);
  const std::string said = text.empty() ? "" : cat(": ", text);
  const std::string help =
      memory_help(setup.plan, setup.options, batch.micro, setup.recipe.smaller_sample());
  if (setup.plan.exact)
    throw Error(cat("out of memory on ", where, ": a leaf of ", batch.micro,
                    " does not fit, and exact = true keeps the leaf of a run", said),
                batch.micro > 1 ? cat("start again with a smaller batch.micro; ", help) : help);
  throw Error(cat("out of memory on ", where, " with micro-batch ", batch.micro, said), help);
}

nlohmann::json describe_not_finite(const TrainerSetup& setup, const BatchPlan& batch,
                                   const StepResult& result, const NotFinite& own,
                                   const std::vector<std::int64_t>& samples) {
  nlohmann::json finding{
      {"tensor", own.tensor}, {"micro_batch", own.micro_batch + 1}, {"in_weights", own.in_weights}};
  if (own.micro_batch >= 0) {
    const auto first = samples.begin() + own.micro_batch * batch.micro;
    std::vector<std::int64_t> of_micro_batch(first, first + batch.micro);
    std::erase(of_micro_batch, -1);  // removes padding
    const auto end = std::unique(of_micro_batch.begin(), of_micro_batch.end());
    // removes duplicates; rows of a sample are adjacent
    of_micro_batch.erase(end, of_micro_batch.end());
    finding["samples"] = of_micro_batch;
  }
  const std::string key = cat("not finite ", result.step);
  const std::vector<std::string> all = setup.group.collect(key, finding.dump());
  nlohmann::json event = {{"kind", "not_finite"},
                          {"step", result.step},
                          {"loss_is_finite", std::isfinite(result.loss)},
                          {"micro_batches", batch.accumulation},
                          {"in_weights", false},
                          {"tensor", ""}};
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const nlohmann::json found = nlohmann::json::parse(all[rank]);
    if (found.at("tensor").get<std::string>().empty()) continue;
    event.update(found);
    event["rank"] = rank;
    event["device"] = device_label(setup.plan.devices[rank]);
    break;
  }
  return nlohmann::json::parse(setup.group.share(cat(key, " in all"), event.dump()));
}

void fail_not_finite(const nlohmann::json& event, std::int64_t saved_step) {
  std::string help = "a lower optimizer.lr, a longer schedule.warmup or optimizer.clip may help";
  if (event.at("in_weights").get<bool>())
    help = cat("the weights are spoilt, and no later step can mend them; ", help);
  else if (saved_step >= 0)
    help = cat("the checkpoint of step ", saved_step,
               " holds the weights from before; resume with "
               "on_nan=skip to leave such steps out; ",
               help);
  throw Error(format_not_finite(event), help);
}

void fail_without_data(const TrainerSetup& setup, const std::exception_ptr& own,
                       std::int64_t saved_step) {
  const auto [what, help] = first_failure(setup.group, "no data", own);
  const std::string kept = saved_step >= 0 ? cat("the checkpoint of step ", saved_step,
                                                 " is kept, and lockstep resume goes on from it")
                                           : "";
  throw Error(what.empty() ? "a rank has no data for the next step" : what,
              cat(help, help.empty() || kept.empty() ? "" : "; ", kept));
}

void require_same_weights(const TrainerSetup& setup, const ParameterStorage& storage,
                          std::int64_t step) {
  const WeightDifference difference = compare_weights(storage, setup.group);
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

void check_leaf(const nlohmann::json& state, const Plan& plan) {
  if (!plan.exact || !state.contains("leaf_samples") ||
      state["leaf_samples"] == plan.exact->leaf_samples)
    return;
  throw Error(cat("the checkpoint's leaf is ", state["leaf_samples"].dump(), ", but the plan's is ",
                  plan.exact->leaf_samples),
              cat("set batch.micro=", state["leaf_samples"].dump()));
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
