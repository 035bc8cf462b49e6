// Solves world_size x micro-batch x accumulation = global batch, exactly or not at all; only a
// default global batch may be rounded.
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

// What is asked of the solver; 0 = find it.
struct RequestedBatch {
  std::int64_t world_size, global, micro, accumulation;
  const std::string& rank_word;
};

// What the global batch must be a multiple of.
std::int64_t multiple_of(const RequestedBatch& requested) {
  const std::int64_t factor =
      requested.micro > 0 ? requested.micro : std::max<std::int64_t>(1, requested.accumulation);
  return product(requested.world_size, factor);
}

// The nearest multiple, at least one; the larger of two that are equally near.
std::int64_t nearest_multiple(std::int64_t value, std::int64_t multiple) {
  const std::int64_t below = value / multiple * multiple, above = below + multiple;
  return below > 0 && value - below < above - value ? below : above;
}

// Throws unless the global batch is a multiple of the factors that are given.
void check_divides(const RequestedBatch& requested) {
  const std::int64_t multiple = multiple_of(requested);
  if (requested.global % multiple == 0) return;
  std::string parts = count_of(requested.world_size, requested.rank_word);
  if (requested.micro > 0)
    parts += cat(" x micro-batch ", requested.micro);
  else if (requested.accumulation > 0)
    parts += cat(" x accumulation ", requested.accumulation);
  throw Error(cat("global batch ", requested.global, " does not divide into ", parts,
                  " (needs a multiple of ", multiple, ")"),
              cat("set batch.global to ", nearest_multiples(requested.global, multiple)));
}

void check_all_agree(const RequestedBatch& requested) {
  const std::int64_t made =
      product(product(requested.world_size, requested.micro), requested.accumulation);
  if (made == requested.global) return;
  throw Error(cat("global batch ", requested.global, " is not ",
                  count_of(requested.world_size, requested.rank_word), " x micro-batch ",
                  requested.micro, " x accumulation ", requested.accumulation, " = ", made),
              cat("set batch.global to ", made,
                  ", or leave out one of batch.global, batch.micro and batch.accumulation"));
}

}  // namespace

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

BatchPlan solve_batch(std::int64_t world_size, std::int64_t global, std::int64_t micro,
                      std::int64_t accumulation, std::int64_t default_global,
                      std::int64_t largest_micro, const std::string& rank_word) {
  LOCKSTEP_CHECK(world_size > 0);
  check_range("batch.global", global);
  check_range("batch.micro", micro);
  check_range("batch.accumulation", accumulation);
  if (global == 0 && micro > 0 && accumulation > 0)
    global = product(product(world_size, micro), accumulation);
  RequestedBatch requested{world_size, global, micro, accumulation, rank_word};
  if (global == 0) requested.global = default_global;
  if (requested.global <= 0)
    throw Error("the global batch is not known: the recipe has no default for it",
                cat("set batch.global, for example to ",
                    product(product(world_size, std::max<std::int64_t>(1, micro)),
                            std::max<std::int64_t>(1, accumulation))));
  if (global == 0 && requested.global % multiple_of(requested) != 0)
    requested.global = nearest_multiple(requested.global, multiple_of(requested));
  if (micro > 0 && accumulation > 0)
    check_all_agree(requested);
  else
    check_divides(requested);

  const std::int64_t per_rank = requested.global / world_size;
  BatchPlan batch{.world_size = world_size, .global = requested.global};
  if (global == 0 && requested.global != default_global) batch.rounded_from = default_global;
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

namespace {

bool divides(const TrainOptions& options, std::int64_t world_size) {
  const auto& batch = options.batch;
  const std::int64_t micro = std::max<std::int64_t>(1, batch.micro),
                     accumulation = std::max<std::int64_t>(1, batch.accumulation);
  if (batch.micro > 0 && batch.accumulation > 0)
    return product(product(world_size, micro), accumulation) == batch.global;
  return batch.global % product(product(world_size, micro), accumulation) == 0;
}

// "1, 2, 3 or 4"
std::string one_of(const std::vector<std::string>& words) {
  if (words.size() == 1) return words[0];
  return cat(join(std::span(words).first(words.size() - 1), ", "), " or ", words.back());
}

}  // namespace

void check_frozen_batch(const TrainOptions& options, const std::vector<Device>& devices) {
  const auto asked = static_cast<std::int64_t>(devices.size());
  const std::int64_t global = options.batch.global;
  if (global <= 0 || divides(options, asked)) return;
  std::vector<std::string> counts;
  const std::int64_t most = std::min(global, std::max<std::int64_t>(16, 2 * asked));
  for (std::int64_t ranks = 1; ranks <= most; ++ranks)
    if (divides(options, ranks)) counts.push_back(cat(ranks));
  const std::string stays = cat("the global batch of a run stays ", global);
  throw Error(
      cat("global batch ", global, " does not divide into ", count_of(asked, rank_word(devices)),
          options.batch.micro > 0 ? cat(" x micro-batch ", options.batch.micro) : "",
          options.batch.accumulation > 0 ? cat(" x accumulation ", options.batch.accumulation)
                                         : ""),
      counts.empty()
          ? cat("leave out batch.micro and batch.accumulation: ", stays)
          : cat("use ", one_of(counts),
                counts == std::vector<std::string>{"1"} ? " rank" : " ranks", ": ", stays));
}

}  // namespace lockstep
