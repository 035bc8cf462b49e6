// Turns results that jobs and trainings report (docs/guide/batch.md) into facts and quantities.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// The role of a result follows from its name:
//   - work: used.NAME, data and data.NAME, except seeds
//   - means: used.NAME if it is a seed
//   - amount: rows.NAME and samples.NAME
//   - place: device
//   - outcome: model_hash
// Other texts are `work`, and other numbers are quantities.
enum class ResultRole { work, amount, means, place, quantity, outcome };
inline constexpr const char* model_hash_result = "model_hash";
ResultRole role_of_result(const std::string& name, const nlohmann::json& value);
FactKind kind_of_role(ResultRole role);  // the kind of the fact that a result becomes

// Makes a quantity whose properties follow from the ending of its name. The ending _s means a time,
// _bytes memory, _j an energy, and _per_s a rate. All other quantities are qualities. Among
// qualities, lower is known to be better only for a loss or an error.
Quantity quantity_of_name(const std::string& name);

// results: an object of the numbers and texts that one training reported.
void add_results(const nlohmann::json& results, Trial& trial);

}  // namespace lockstep
