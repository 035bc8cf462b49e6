// What jobs and trainings report of themselves (docs/guide/batch.md), as facts and quantities.
#pragma once

#include "report/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// used.NAME and data are of work, rows.NAME and samples.NAME amounts, device is of the place,
// model_hash is what came out; other texts are of work, and other numbers were measured.
enum class ResultRole { work, amount, place, quantity, outcome };
inline constexpr const char* model_hash_result = "model_hash";
ResultRole role_of_result(const std::string& name, const nlohmann::json& value);

// A quantity by the ending of its name: _s is time, _bytes memory, _j energy, _per_s a rate; others
// are qualities, of which only a loss and an error are known to be better where lower.
Quantity quantity_of_name(const std::string& name);

// An object of numbers and texts, of one training.
void add_results(const nlohmann::json& results, Trial& trial);

}  // namespace lockstep
