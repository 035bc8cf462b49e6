// The toy regression as a plugin whose preparation says what it was asked for, and from which run.
#include "engine/register.h"
#include "fakes/toy_recipe.h"

namespace lockstep::testing {

struct ToyOptions : RecipeOptions {
  std::int64_t samples = 50;
  ToyOptions() {
    table.add("data.samples", samples, {.meaning = "training samples", .min = 1, .max = 1e6});
  }
  void defaults(TrainOptions& train, bool) const override { train.batch.global = 12; }
  Prepared prepare(const PrepareContext& context) override {
    Prepared prepared;
    prepared.extra["purpose"] = static_cast<int>(context.purpose);
    prepared.extra["run"] = context.run_dir.filename().string();
    return prepared;
  }
};

class PreparedToy : public ToyRecipe {
 public:
  PreparedToy(const ToyOptions& options, const Prepared& prepared)
      : ToyRecipe(options.samples), extra_(prepared.extra) {}
  std::vector<Metric> metrics(const at::Tensor& records) const override {
    return {{"purpose", extra_.at("purpose").get<double>(), "", true}};
  }
  void predict(Model&, const PredictRequest& request) override {
    request.out(request.extra.dump());
  }

 private:
  nlohmann::json extra_;
};

}  // namespace lockstep::testing

LOCKSTEP_PLUGIN("toy", "a tiny regression", lockstep::testing::ToyOptions,
                lockstep::testing::PreparedToy)
