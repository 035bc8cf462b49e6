// Throws the errors that end a run, with messages that say what to do. loop_recovery.cpp handles
// failed steps after which the run continues.
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

// Throws the Error that ends a run when memory ran out and the step cannot be repeated with less
// memory. All ranks call it. own: the out-of-memory message of this rank; may be empty.
[[noreturn]] void fail_out_of_memory(const TrainerSetup& setup, const BatchPlan& batch,
                                     const StepResult& result, const std::string& own);

// Returns the content of the event `not_finite`, the same on all ranks. All ranks call it, after
// each rank has computed the step again.
//   own: this rank's result of TrainStep::find_not_finite
//   samples: this rank's samples in that step
nlohmann::json describe_not_finite(const TrainerSetup& setup, const BatchPlan& batch,
                                   const StepResult& result, const NotFinite& own,
                                   const std::vector<std::int64_t>& samples);
// Throws the Error that ends a run after a step that was not finite.
//   event: the result of describe_not_finite
//   saved_step: the step of the checkpoint with the weights from before the failed step; below 0 if
//     there is no such checkpoint
[[noreturn]] void fail_not_finite(const nlohmann::json& event, std::int64_t saved_step);

// All ranks call it if a rank cannot read the samples of the next step. Throws Error, or rethrows
// `own` if `own` is an exception other than Error.
//   own: the exception that was thrown when this rank read its data, or null
//   saved_step: the step of the checkpoint from which the run can resume; below 0 if there is no
//     such checkpoint
[[noreturn]] void fail_without_data(const TrainerSetup& setup, const std::exception_ptr& own,
                                    std::int64_t saved_step);

// Compares the weights of all ranks (compare_weights). If they differ, throws std::runtime_error
// instead of Error, because the user did not cause the difference. All ranks call it, between
// steps.
void require_same_weights(const TrainerSetup& setup, const ParameterStorage& storage,
                          std::int64_t step);

// In exact mode (option exact), throws Error if the exact-mode micro-batch had another size when
// the checkpoint was saved. Sums over micro-batches of another size would round differently. state:
// the checkpoint's state.json.
void check_leaf(const nlohmann::json& state, const Plan& plan);

// Throws Error with an explanation if `error` says that an operator has no deterministic
// implementation. Returns if `error` has another cause.
void explain_operator(const TrainOptions& options, const c10::Error& error);

}  // namespace lockstep
