// Results that jobs and trainings report (docs/guide/batch.md), as facts and quantities.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// used.NAME and data are work, but a seed among them is one of the means. rows.NAME and
// samples.NAME are amounts. device is place. model_hash is the outcome. Other texts are work, and
// other numbers are quantities.
enum class ResultRole { work, amount, means, place, quantity, outcome };
inline constexpr const char* model_hash_result = "model_hash";
ResultRole role_of_result(const std::string& name, const nlohmann::json& value);
FactKind kind_of_role(ResultRole role);  // of a result that becomes a fact

// Makes a quantity from the ending of its name: _s is time, _bytes memory, _j energy, _per_s a
// rate. Others are qualities. Among these, only for a loss and an error is it known that lower is
// better.
Quantity quantity_of_name(const std::string& name);

// results: an object of numbers and texts from one training.
void add_results(const nlohmann::json& results, Trial& trial);

}  // namespace lockstep
