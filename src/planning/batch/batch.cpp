// Solves world_size x micro-batch x accumulation = global batch. Only a default global batch may be
// rounded.
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/plan.h"
#include "planning/words.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::int64_t largest_global = std::int64_t{1} << 40;

void check_range(const char* key, std::int64_t value) {
  if (value < 0 || value > largest_global)
    throw Error(cat(key, " must be between 1 and ", largest_global, ", but is ", value),
                cat("set ", key, " to the size that you want, or leave it out"));
}

// The check before each multiplication keeps the result at most 2^40. So a product of several
// factors stays within 64 bits.
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

// The input of the solver, which finds each size that is 0.
struct RequestedBatch {
  std::int64_t world_size, global, micro, accumulation;
  const std::string& rank_word;
  std::int64_t rows_per_sample = 1;
};

std::int64_t divide_up(std::int64_t number, std::int64_t by) { return (number - 1) / by + 1; }

// Returns, for example, "2 GPUs x micro-batch 4 x accumulation 3", with only the given sizes.
std::string given_sizes(const RequestedBatch& requested) {
  std::string text = count_of(requested.world_size, requested.rank_word);
  if (requested.micro > 0) text += cat(" x micro-batch ", requested.micro);
  if (requested.accumulation > 0) text += cat(" x accumulation ", requested.accumulation);
  return text;
}

// The global batch must be a multiple of this number.
std::int64_t multiple_of(const RequestedBatch& requested) {
  const std::int64_t factor =
      requested.micro > 0 ? requested.micro : std::max<std::int64_t>(1, requested.accumulation);
  return product(requested.world_size, factor);
}

// Throws Error unless the global batch is a multiple of the given factors.
void check_divides(const RequestedBatch& requested) {
  const std::int64_t multiple = multiple_of(requested);
  if (requested.global % multiple == 0) return;
  throw Error(cat("global batch ", requested.global, " does not divide into ",
                  given_sizes(requested), " (needs a multiple of ", multiple, ")"),
              cat("set batch.global to ", nearest_multiples(requested.global, multiple)));
}

void check_all_agree(const RequestedBatch& requested) {
  const std::int64_t made =
      product(product(requested.world_size, requested.micro), requested.accumulation);
  if (made == requested.global) return;
  throw Error(
      cat("global batch ", requested.global, " is not ", given_sizes(requested), " = ", made),
      cat("set batch.global to ", made,
          ", or leave out one of batch.global, batch.micro and batch.accumulation"));
}

// The global batch if only the two other sizes are given, and each sample has several rows.
std::int64_t samples_of(const RequestedBatch& requested) {
  const std::int64_t places =
      product(product(requested.world_size, requested.micro), requested.accumulation);
  if (places % requested.rows_per_sample == 0) return places / requested.rows_per_sample;
  throw Error(
      cat(given_sizes(requested), " are ", places, " rows, which is no whole number of samples of ",
          requested.rows_per_sample, " rows"),
      "set batch.global, and leave out batch.micro or batch.accumulation");
}

// Finds the micro-batch and accumulation if each sample has several rows. The last rows may be
// padding. The accumulation is the smallest that holds the rows of a rank.
BatchPlan solve_rows(const RequestedBatch& requested, std::int64_t limit) {
  BatchPlan batch{.world_size = requested.world_size,
                  .global = requested.global,
                  .rows_per_sample = requested.rows_per_sample};
  product(batch.global, batch.rows_per_sample);
  const std::int64_t share = batch.rows_per_rank();
  if (requested.micro > 0)
    batch.micro = requested.micro;
  else if (requested.accumulation > 0)
    batch.micro = divide_up(share, requested.accumulation);
  else
    batch.micro = fitting_micro(batch, limit);
  batch.accumulation = divide_up(share, batch.micro);
  if (requested.accumulation > 0 && batch.accumulation != requested.accumulation)
    throw Error(cat("global batch ", batch.global, " is ", count_of(batch.rows(), "row"), ", and ",
                    count_of(batch.world_size, requested.rank_word), " x micro-batch ", batch.micro,
                    " need accumulation ", batch.accumulation, ", not ", requested.accumulation),
                cat("set batch.accumulation to ", batch.accumulation, ", or leave it out"));
  return batch;
}

// For fewer samples than ranks: one sample for each rank until none is left.
BatchPlan solve_few(const RequestedBatch& requested) {
  if (requested.micro > 1 || requested.accumulation > 1)
    throw Error(cat("global batch ", requested.global, " is less than ", given_sizes(requested),
                    ": with fewer samples than ranks each has one at most"),
                cat("set batch.global to ", multiple_of(requested),
                    ", or leave out batch.micro and batch.accumulation"));
  return {.world_size = requested.world_size, .global = requested.global};
}

}  // namespace

std::int64_t nearest_multiple(std::int64_t value, std::int64_t multiple) {
  const std::int64_t below = value / multiple * multiple, above = below + multiple;
  return below > 0 && value - below < above - value ? below : above;
}

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

std::int64_t fitting_micro(const BatchPlan& batch, std::int64_t limit) {
  const std::int64_t share = batch.rows_per_rank();
  limit = std::max<std::int64_t>(1, limit);
  if (batch.rows_per_sample == 1) return largest_divisor(share, limit);
  return divide_up(share, divide_up(share, limit));
}

BatchPlan solve_batch(std::int64_t world_size, std::int64_t global, std::int64_t micro,
                      std::int64_t accumulation, std::int64_t default_global,
                      std::int64_t largest_micro, const std::string& rank_word,
                      std::int64_t rows_per_sample) {
  LOCKSTEP_CHECK(world_size > 0 && rows_per_sample > 0);
  check_range("batch.global", global);
  check_range("batch.micro", micro);
  check_range("batch.accumulation", accumulation);
  RequestedBatch requested{world_size, global, micro, accumulation, rank_word, rows_per_sample};
  if (global == 0 && micro > 0 && accumulation > 0)
    global = requested.global = samples_of(requested);
  if (global == 0) requested.global = default_global;
  if (requested.global <= 0)
    throw Error("the global batch is not known: the recipe has no default for it",
                cat("set batch.global, for example to ",
                    product(product(world_size, std::max<std::int64_t>(1, micro)),
                            std::max<std::int64_t>(1, accumulation))));
  if (rows_per_sample > 1) return solve_rows(requested, largest_micro);
  if (global > 0 && global < world_size) return solve_few(requested);
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
    batch.micro = fitting_micro(batch, largest_micro);
  batch.accumulation = per_rank / batch.micro;
  LOCKSTEP_CHECK(batch.world_size * batch.micro * batch.accumulation == batch.global);
  return batch;
}

namespace {

// Whether the batch of a run can be divided over `world_size` ranks.
bool divides(const TrainOptions& options, const Facts& facts, std::int64_t world_size) {
  const std::int64_t micro = std::max(options.batch.micro, facts.fixed_micro),
                     accumulation = options.batch.accumulation;
  BatchPlan batch{.world_size = world_size,
                  .micro = std::max<std::int64_t>(1, micro),
                  .accumulation = std::max<std::int64_t>(1, accumulation),
                  .global = options.batch.global,
                  .rows_per_sample = std::max<std::int64_t>(1, facts.rows_per_sample)};
  product(product(world_size, batch.micro), batch.accumulation);
  const bool both = micro > 0 && accumulation > 0;
  if (!options.exact && batch.rows_per_sample > 1)
    return !both || divide_up(batch.rows_per_rank(), micro) == accumulation;
  if (!options.exact && batch.global < world_size) return micro <= 1 && accumulation <= 1;
  return both ? batch.places() == batch.rows() : batch.rows() % batch.places() == 0;
}

std::vector<std::string> divisors(std::int64_t number) {
  std::vector<std::string> small, large;
  for (std::int64_t one = 1; one * one <= number; ++one) {
    if (number % one != 0) continue;
    small.push_back(cat(one));
    if (number / one != one) large.insert(large.begin(), cat(number / one));
  }
  small.insert(small.end(), large.begin(), large.end());
  return small;
}

// Joins words as in "1, 2, 3 or 4".
std::string one_of(const std::vector<std::string>& words) {
  if (words.size() == 1) return words[0];
  return cat(join(std::span(words).first(words.size() - 1), ", "), " or ", words.back());
}

}  // namespace

void check_frozen_batch(const TrainOptions& options, const Facts& facts,
                        const std::vector<Device>& devices) {
  const auto asked = static_cast<std::int64_t>(devices.size());
  const std::int64_t global = options.batch.global;
  if (global <= 0 || divides(options, facts, asked)) return;
  std::vector<std::string> counts, micros;
  const std::int64_t rows = global * std::max<std::int64_t>(1, facts.rows_per_sample);
  const std::int64_t most = std::min(rows, std::max<std::int64_t>(16, 2 * asked));
  for (std::int64_t ranks = 1; ranks <= most; ++ranks)
    if (divides(options, facts, ranks)) counts.push_back(cat(ranks));
  const std::string stays = cat("the global batch of a run stays ", global);
  const bool has_micro = options.batch.micro > 0 && options.batch.accumulation == 0 &&
                         !options.exact && facts.fixed_micro == 0 && rows == global;
  if (has_micro && global % asked == 0) micros = divisors(global / asked);
  std::vector<std::string> ways;
  if (!micros.empty())
    ways.push_back(cat("set batch.micro to ", one_of(micros), ", or leave it out"));
  if (!counts.empty())
    ways.push_back(
        cat("use ", one_of(counts), counts == std::vector<std::string>{"1"} ? " rank" : " ranks"));
  if (ways.empty()) ways.emplace_back("leave out batch.micro and batch.accumulation");
  throw Error(
      cat("global batch ", global, rows > global ? cat(" of ", rows, " rows") : "",
          " does not divide into ", count_of(asked, rank_word(devices)),
          options.batch.micro > 0 ? cat(" x micro-batch ", options.batch.micro) : "",
          options.batch.accumulation > 0 ? cat(" x accumulation ", options.batch.accumulation)
                                         : ""),
      cat(join(ways, ", or "), ": ", stays));
}

void check_frozen_data(const Facts& before, const Facts& now, const std::string& where) {
  const auto check = [&](const char* what, std::int64_t had, std::int64_t has) {
    if (had == has) return;
    throw Error(cat("the ", what, " when the run began: ", had, ", now: ", has,
                    where.empty() ? "" : cat(" (", where, ")")),
                "bring back the data that the run began with, or start a new run");
  };
  check("training data had another number of samples", before.train_samples, now.train_samples);
  check("validation data had another number of samples", before.valid_samples, now.valid_samples);
  const auto epoch = [](const Facts& facts) {
    return facts.epoch_size > 0 ? facts.epoch_size : facts.train_samples;
  };
  check("training data had epochs of another size", epoch(before), epoch(now));
  check("training data had samples of another number of rows", before.rows_per_sample,
        now.rows_per_sample);
}

std::int64_t count_epoch_steps(std::int64_t epoch_size, std::int64_t global, bool drop_last) {
  if (epoch_size <= 0) return 0;
  return drop_last ? epoch_size / global : (epoch_size - 1) / global + 1;
}

}  // namespace lockstep
