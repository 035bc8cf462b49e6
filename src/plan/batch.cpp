// Solves world_size x micro-batch x accumulation = global batch, exactly or not at all.
#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/words.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::int64_t largest_global = std::int64_t{1} << 40;

void check_range(const char* key, std::int64_t value) {
  if (value < 0 || value > largest_global)
    throw Error(cat(key, " must be between 1 and ", largest_global, ", but is ", value),
                cat("set ", key, " to the size that you want, or leave it out"));
}

// Both are at most 2^40, so one product stays within 64 bits only after this check of each factor.
std::int64_t product(std::int64_t a, std::int64_t b) {
  if (b != 0 && a > largest_global / b)
    throw Error(
        cat("the global batch would be ", a, " x ", b, ", which is more than ", largest_global),
        "set batch.micro or batch.accumulation to less");
  return a * b;
}

std::string nearest_multiples(std::int64_t value, std::int64_t multiple) {
  const std::int64_t below = value / multiple * multiple;
  return below == 0 ? cat(multiple) : cat(below, " or ", below + multiple);
}

// The largest divisor of `number` that is at most `limit`.
std::int64_t largest_divisor(std::int64_t number, std::int64_t limit) {
  if (number <= limit) return number;
  std::int64_t best = 1;
  for (std::int64_t small = 1; small * small <= number; ++small) {
    if (number % small != 0) continue;
    if (small <= limit) best = std::max(best, small);
    if (number / small <= limit) return std::max(best, number / small);
  }
  return best;
}

// What is asked of the solver; 0 = find it.
struct Wish {
  std::int64_t world_size, global, micro, accumulation;
  bool global_is_default;
  const std::string& rank_word;
};

// Throws unless the global batch is a multiple of the factors that are given.
void check_divides(const Wish& wish) {
  const std::int64_t factor =
      wish.micro > 0 ? wish.micro : std::max<std::int64_t>(1, wish.accumulation);
  const std::int64_t multiple = product(wish.world_size, factor);
  if (wish.global % multiple == 0) return;
  std::string parts = count_of(wish.world_size, wish.rank_word);
  if (wish.micro > 0)
    parts += cat(" x micro-batch ", wish.micro);
  else if (wish.accumulation > 0)
    parts += cat(" x accumulation ", wish.accumulation);
  throw Error(
      cat(wish.global_is_default ? "the default global batch " : "global batch ", wish.global,
          " does not divide into ", parts, " (needs a multiple of ", multiple, ")"),
      cat("set batch.global to ", nearest_multiples(wish.global, multiple)));
}

void check_all_agree(const Wish& wish) {
  const std::int64_t made = product(product(wish.world_size, wish.micro), wish.accumulation);
  if (made == wish.global) return;
  throw Error(
      cat("global batch ", wish.global, " is not ", count_of(wish.world_size, wish.rank_word),
          " x micro-batch ", wish.micro, " x accumulation ", wish.accumulation, " = ", made),
      cat("set batch.global to ", made,
          ", or leave out one of batch.global, batch.micro and batch.accumulation"));
}

}  // namespace

BatchPlan solve_batch(std::int64_t world_size, std::int64_t global, std::int64_t micro,
                      std::int64_t accumulation, std::int64_t default_global,
                      std::int64_t largest_micro, const std::string& rank_word) {
  LOCKSTEP_CHECK(world_size > 0);
  check_range("batch.global", global);
  check_range("batch.micro", micro);
  check_range("batch.accumulation", accumulation);
  if (global == 0 && micro > 0 && accumulation > 0)
    global = product(product(world_size, micro), accumulation);
  Wish wish{world_size, global, micro, accumulation, global == 0, rank_word};
  if (wish.global_is_default) wish.global = default_global;
  if (wish.global <= 0)
    throw Error("the global batch is not known: the recipe has no default for it",
                cat("set batch.global, for example to ",
                    product(product(world_size, std::max<std::int64_t>(1, micro)),
                            std::max<std::int64_t>(1, accumulation))));
  if (micro > 0 && accumulation > 0)
    check_all_agree(wish);
  else
    check_divides(wish);

  const std::int64_t per_rank = wish.global / world_size;
  BatchPlan batch{.world_size = world_size, .global = wish.global};
  if (micro > 0)
    batch.micro = micro;
  else if (accumulation > 0)
    batch.micro = per_rank / accumulation;
  else
    batch.micro = largest_divisor(per_rank, std::max<std::int64_t>(1, largest_micro));
  batch.accumulation = per_rank / batch.micro;
  LOCKSTEP_CHECK(batch.world_size * batch.micro * batch.accumulation == batch.global);
  return batch;
}

}  // namespace lockstep
