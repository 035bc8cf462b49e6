#include "training/contract/contract_terms.h"

#include "core/base/text/text.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

bool alike(double a, double b) {
  constexpr double tolerance = 0.02;
  return std::isfinite(a) && std::isfinite(b) &&
         std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

// For weights, which the host sums in f64.
bool equal_weights(double a, double b) {
  constexpr double tolerance = 1e-6;
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

bool weight_grows(const TermCases& term) {
  return term.alone.weight > 0 && equal_weights(term.twice.weight, 2 * term.alone.weight);
}

bool sum_grows(const TermCases& term) {
  return term.alone.sum != 0 && alike(term.twice.sum, 2 * term.alone.sum);
}

std::string number(double value) { return general(value, 5); }

}  // namespace

TermFault fault_of(const TermCases& term) {
  const auto& [alone, twice, padded] = term;
  if (weight_grows(term) && !equal_weights(padded.weight, alone.weight))
    return TermFault::padding_in_weight;
  if (alone.sum == 0 || alone.weight == 0) return TermFault::none;
  if (weight_grows(term) && alike(twice.sum, alone.sum)) return TermFault::mean;
  if (sum_grows(term) && equal_weights(twice.weight, alone.weight))
    return TermFault::sum_beside_weight;
  if (sum_grows(term) && weight_grows(term) && alike(padded.sum, twice.sum))
    return TermFault::padding_in_sum;
  return TermFault::none;
}

bool is_right(const TermCases& term) {
  const auto& [alone, twice, padded] = term;
  if (alone.weight == 0 && twice.weight == 0) return true;
  return weight_grows(term) && equal_weights(padded.weight, alone.weight) &&
         alike(twice.sum, 2 * alone.sum) && alike(padded.sum, alone.sum);
}

std::string describe(TermFault fault, const std::string& name, const TermCases& term) {
  const auto& [alone, twice, padded] = term;
  switch (fault) {
    case TermFault::none:
      break;
    case TermFault::mean:
      return cat("the term ", name, " of the loss is a mean, not a sum: with each row twice it is ",
                 number(twice.sum), " instead of ", number(2 * alone.sum), ", while its weight is ",
                 number(twice.weight), " instead of ", number(alone.weight));
    case TermFault::sum_beside_weight:
      return cat("the weight of the term ", name,
                 " does not grow with the rows, but its sum does: with each row twice the sum is ",
                 number(twice.sum), " instead of ", number(alone.sum), ", the weight still ",
                 number(twice.weight), "; so the loss depends on the size of a micro-batch");
    case TermFault::padding_in_sum:
      return cat("padding rows count in the term ", name,
                 " of the loss: with as many of them as "
                 "rows it is ",
                 number(padded.sum), " instead of ", number(alone.sum));
    case TermFault::padding_in_weight:
      return cat("padding rows count in the weight of the term ", name,
                 ": with as many of them as rows it is ", number(padded.weight), " instead of ",
                 number(alone.weight));
  }
  return "";
}

}  // namespace lockstep
