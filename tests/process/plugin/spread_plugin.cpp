// Samples of several rows, orders and micro-batches of a recipe's own, as a plugin.
#include "core/base/files/files.h"
#include "fakes/spread_recipe.h"
#include "training/recipe/register.h"

#include <string>

namespace lockstep::testing {

struct SpreadOptions : RecipeOptions {
  std::int64_t samples = 9, rows = 6, epoch_size = 0, fixed_micro = 0;
  std::string path, order;
  SpreadOptions() {
    table.add("data.samples", samples, {.meaning = "samples", .min = 1, .max = 1e6});
    table.add("data.rows", rows, {.meaning = "rows of a sample", .min = 1, .max = 100});
    table.add("data.epoch_size", epoch_size, {.meaning = "samples of an epoch; 0: all", .min = 0});
    table.add("data.order", order, {.meaning = "weights, none, own or beyond; empty: usual"});
    table.add("data.path", path, {.meaning = "a file with the number of samples", .is_path = true});
    table.add("model.fixed_micro", fixed_micro, {.meaning = "micro-batch", .min = 0});
  }
  Prepared prepare(const PrepareContext&) override {
    Prepared prepared;
    prepared.facts.default_global = 2;
    prepared.facts.fixed_micro = fixed_micro;
    return prepared;
  }
};

class OrderedData : public SpreadData {
 public:
  OrderedData(const SpreadOptions& options, std::int64_t samples)
      : SpreadData(samples, options.rows), epoch_size_(options.epoch_size), order_(options.order) {}
  std::int64_t epoch_size() const override { return epoch_size_ > 0 ? epoch_size_ : size(); }
  std::vector<double> sample_weights() const override {
    if (order_ == "none") return std::vector<double>(static_cast<std::size_t>(size()), 0.0);
    if (order_ != "weights") return {};
    std::vector<double> weights;
    for (std::int64_t i = 0; i < size(); ++i) weights.push_back(static_cast<double>(i % 3));
    return weights;
  }
  std::optional<std::int64_t> sample_at(std::uint64_t, std::int64_t epoch,
                                        std::int64_t place) const override {
    if (order_ == "own") return (epoch + place) % size();
    if (order_ == "beyond") return place + 1;
    return std::nullopt;
  }

 private:
  std::int64_t epoch_size_;
  std::string order_;
};

class SpreadPlugin : public SpreadRecipe {
 public:
  SpreadPlugin(const SpreadOptions& options, const Prepared&)
      : SpreadRecipe(5, options.rows),
        data_(std::make_shared<OrderedData>(
            options, options.path.empty() ? options.samples : std::stol(read_file(options.path)))) {
  }
  DatasetPair data() override { return {data_, SpreadRecipe::data().valid}; }

 private:
  std::shared_ptr<const Dataset> data_;
};

}  // namespace lockstep::testing

LOCKSTEP_PLUGIN("spread", "rows on several devices", lockstep::testing::SpreadOptions,
                lockstep::testing::SpreadPlugin)
