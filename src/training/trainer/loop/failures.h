// Failures that end a run, each with a message that says what to do. loop_recovery.cpp handles
// failed steps that are repeated.
#pragma once

#include "planning/plan.h"
#include "training/gradients/not_finite.h"
#include "training/parameters/parameter_storage.h"
#include "training/step/step_metrics.h"
#include "training/trainer/trainer.h"

#include <c10/util/Exception.h>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace lockstep {

// All ranks call it when memory ran out and no micro-batch smaller than batch.micro is possible.
// own: the error message of this rank; may be empty.
[[noreturn]] void fail_out_of_memory(const TrainerSetup& setup, const BatchPlan& batch,
                                     const StepResult& result, const std::string& own);

// All ranks call it, after each has computed again a step that was not finite. Returns the content
// of the event `not_finite`. samples: this rank's samples of that step.
nlohmann::json describe_not_finite(const TrainerSetup& setup, const BatchPlan& batch,
                                   const StepResult& result, const NotFinite& own,
                                   const std::vector<std::int64_t>& samples);
// saved_step: the step of the checkpoint that holds the weights from before the failed step. Below
// 0: there is none.
[[noreturn]] void fail_not_finite(const nlohmann::json& event, std::int64_t saved_step);

// All ranks call it if one rank cannot read the samples of the next step. own: the exception of
// that rank's data; null on the others. saved_step: the step of the checkpoint from which a resumed
// run continues. Below 0: there is none.
[[noreturn]] void fail_without_data(const TrainerSetup& setup, const std::exception_ptr& own,
                                    std::int64_t saved_step);

// All ranks call it, between steps. If the ranks have different weights, throws an exception that
// is not an Error, because the user is not at fault.
void require_same_weights(const TrainerSetup& setup, const ParameterStorage& storage,
                          std::int64_t step);

// Throws Error if a checkpoint of an exact run has another size of the exact-mode micro-batch than
// the plan. Another size would round differently.
void check_leaf(const nlohmann::json& state, const Plan& plan);

// Throws an explanation if ATen must be deterministic and an operator cannot be. Otherwise does
// nothing.
void explain_operator(const TrainOptions& options, const c10::Error& error);

}  // namespace lockstep
