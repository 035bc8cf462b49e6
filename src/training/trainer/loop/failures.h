// Failures that end a run, each with a message that says what to do. Steps that are repeated
// instead are in loop_recovery.cpp.
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

// All ranks: memory ran out and no smaller micro-batch than batch.micro is to be had. own: what it
// said on this rank; may be empty.
[[noreturn]] void fail_out_of_memory(const TrainerSetup& setup, const BatchPlan& batch,
                                     const StepResult& result, const std::string& own);

// All ranks, once each has gone through a step that was not finite again: what the event
// `not_finite` says of it. data: this rank's of that step.
nlohmann::json describe_not_finite(const TrainerSetup& setup, const BatchPlan& batch,
                                   const StepResult& result, const NotFinite& own,
                                   const std::vector<std::int64_t>& samples);
// saved_step: of the checkpoint that holds the weights from before the step; below 0: none does.
[[noreturn]] void fail_not_finite(const nlohmann::json& event, std::int64_t saved_step);

// All ranks, where one cannot read the samples of the next step. own: what its data threw; null on
// the others. saved_step: of a checkpoint that a resumed run goes on from; below 0: there is none.
[[noreturn]] void fail_without_data(const TrainerSetup& setup, const std::exception_ptr& own,
                                    std::int64_t saved_step);

// All ranks, between steps: that of one is not the fault of the user, so no Error.
void require_same_weights(const TrainerSetup& setup, const ParameterStorage& storage,
                          std::int64_t step);

// A checkpoint of an exact run was made of leaves of one size; another would round differently.
void check_leaf(const nlohmann::json& state, const Plan& plan);

// Where ATen was told to be deterministic and an operator cannot; else nothing.
void explain_operator(const TrainOptions& options, const c10::Error& error);

}  // namespace lockstep
