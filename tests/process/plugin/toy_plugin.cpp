// The toy regression as a plugin whose preparation says what it was asked for, and from which run.
// Its samples may take time.
#include "fakes/toy_recipe.h"
#include "training/recipe/register.h"

#include <chrono>
#include <thread>

namespace lockstep::testing {

struct ToyOptions : RecipeOptions {
  std::int64_t samples = 50;
  double sample_ms = 0;
  ToyOptions() {
    table.add("data.samples", samples, {.meaning = "training samples", .min = 1, .max = 1e6});
    table.add("data.sample_ms", sample_ms, {.meaning = "what each takes", .min = 0, .max = 1e3});
  }
  void defaults(TrainOptions& train, bool) const override { train.batch.global = 12; }
  Prepared prepare(const PrepareContext& context) override {
    Prepared prepared;
    prepared.extra["purpose"] = static_cast<int>(context.purpose);
    prepared.extra["run"] = context.run_dir.filename().string();
    return prepared;
  }
};

class SlowToyData : public ToyData {
 public:
  SlowToyData(std::int64_t count, double sample_ms) : ToyData(count), sample_ms_(sample_ms) {}
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(sample_ms_));
    return ToyData::get(index, context);
  }

 private:
  double sample_ms_;
};

class PreparedToy : public ToyRecipe {
 public:
  PreparedToy(const ToyOptions& options, const Prepared& prepared)
      : ToyRecipe(options.samples),
        samples_(options.samples),
        sample_ms_(options.sample_ms),
        extra_(prepared.extra) {}
  DatasetPair data() override {
    return {std::make_shared<SlowToyData>(samples_, sample_ms_), std::make_shared<ToyData>(11)};
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"purpose", extra_.at("purpose").get<double>(), "", true}};
  }
  void predict(Model&, const PredictRequest& request) override {
    request.out(request.extra.dump());
  }

 private:
  std::int64_t samples_;
  double sample_ms_;
  nlohmann::json extra_;
};

}  // namespace lockstep::testing

LOCKSTEP_PLUGIN("toy", "a tiny regression", lockstep::testing::ToyOptions,
                lockstep::testing::PreparedToy)
