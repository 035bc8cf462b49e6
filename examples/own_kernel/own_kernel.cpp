// How high is the land between the places where it was measured? A model with a kernel of its own.
#include "rbf.h"

#include <lockstep/training/recipe/nn_model.h>
#include <lockstep/training/recipe/register.h>
#include <torch/torch.h>

namespace own_kernel {
using namespace lockstep;
namespace nn = torch::nn;

struct OwnOptions : RecipeOptions {
  std::int64_t centres = 64, points = 2400;
  double noise = 0.05;
  OwnOptions() {
    table.add("model.centres", centres,
              {.meaning = "bells that the land is made of", .min = 1, .max = 65536});
    table.add("data.points", points, {.meaning = "places to train on", .min = 1, .max = 1e9});
    table.add("data.noise", noise,
              {.meaning = "error of a measured height, standard deviation", .min = 0, .max = 10});
  }
  void defaults(TrainOptions& train, bool) const override {
    train.batch.global = 120, train.stop.epochs = 40, train.optimizer.lr = 0.02;
  }
  bool low_precision() const override { return true; }
  std::vector<std::string> metric_names() const override { return {"explained", "error"}; }
};

// Sample: place [2] f32 in [-1, 1], measured height [] f32. A function of the index alone.
struct Land : Dataset {
  Land(std::int64_t count, std::int64_t first, double noise)
      : count(count), first(first), noise(noise) {}
  std::int64_t size() const override { return count; }
  std::vector<at::Tensor> get(std::int64_t i, SampleContext&) const override {
    Random random(1, RandomStream::sample, first + i, 0);
    const double x = 2 * random.uniform() - 1, y = 2 * random.uniform() - 1;
    const double height = std::sin(4 * x) * std::cos(3 * y) + x * y + noise * random.normal();
    return {torch::tensor({x, y}, torch::kFloat), torch::tensor(height, torch::kFloat)};
  }
  std::int64_t count, first;
  double noise;
};

struct NetImpl : nn::Module {
  explicit NetImpl(std::int64_t centres) {
    this->centres = register_parameter("centres", torch::rand({centres, 2}) * 2.4 - 1.2);
    scales = register_parameter("scales", torch::full({centres}, 2.0));
    heights = register_module("heights", nn::Linear(centres, 1));
  }
  at::Tensor forward(const at::Tensor& x) { return heights(rbf(x, centres, scales)).squeeze(1); }
  at::Tensor centres, scales;  // [K, 2], [K]
  nn::Linear heights = nullptr;
};
using Net = NnModel<NetImpl>;

struct OwnRecipe : Recipe {
  OwnRecipe(const OwnOptions& o, const Prepared&) : options{o.centres, o.points, o.noise} {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<Net>(std::make_shared<NetImpl>(options.centres));
  }
  DatasetPair data() override {
    return {std::make_shared<Land>(options.points, 0, options.noise),
            std::make_shared<Land>(600, options.points, options.noise)};
  }
  at::Tensor heights(Model& model, const Batch& batch, StepContext& context) {
    const at::Tensor x = batch.tensors[0].to(context.compute_dtype);
    return dynamic_cast<Net&>(model).module().forward(x).to(torch::kFloat);
  }
  std::vector<double> loss_weights(const Batch& b) const override {
    return {b.row_weight.sum().item<double>()};
  }
  std::vector<at::Tensor> loss(Model& m, const Batch& b, StepContext& c) override {
    return {((heights(m, b, c) - b.tensors[1]).square() * b.row_weight).sum()};
  }
  at::Tensor evaluate(Model& m, const Batch& b, StepContext& c) override {
    return torch::stack({b.tensors[1], heights(m, b, c)}, 1).to(torch::kDouble);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    const at::Tensor measured = records.dense().select(1, 0);
    const double error = (records.dense().select(1, 1) - measured).square().mean().item<double>();
    const double spread = (measured - measured.mean()).square().mean().item<double>();
    return {{"explained", 1 - error / spread, "", /*lower_is_better=*/false},
            {"error", std::sqrt(error)}};
  }
  struct {
    std::int64_t centres, points;
    double noise;
  } options;
};

}  // namespace own_kernel
LOCKSTEP_PLUGIN("own_kernel", "heights between measured places", own_kernel::OwnOptions,
                own_kernel::OwnRecipe)
