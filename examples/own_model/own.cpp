// A model of one's own in one file: which of two spirals does a point lie on?
#include <lockstep/training/recipe/nn_model.h>
#include <lockstep/training/recipe/register.h>
#include <torch/torch.h>
using namespace lockstep;
namespace nn = torch::nn;
using Net = NnModel<nn::SequentialImpl>;

struct OwnOptions : RecipeOptions {
  std::int64_t width = 48, points = 1200;
  OwnOptions() {
    table.add("model.width", width, {.meaning = "units of a hidden layer", .min = 1, .max = 4096});
    table.add("data.points", points, {.meaning = "training points", .min = 1, .max = 1e9});
  }
  void defaults(TrainOptions& train, bool) const override {
    train.batch.global = 120, train.stop.epochs = 30, train.optimizer.lr = 0.01;
  }
};
struct Spirals : Dataset {  // sample: position [2] f32, spiral [] f32
  Spirals(std::int64_t count, std::int64_t first) : count(count), first(first) {}
  std::int64_t size() const override { return count; }
  std::vector<at::Tensor> get(std::int64_t i, SampleContext&) const override {
    Random random(1, RandomStream::sample, first + i, 0);
    const double turn = 3 * random.uniform(), spiral = i % 2, angle = 2 * turn + M_PI * spiral;
    return {torch::tensor({turn * std::cos(angle), turn * std::sin(angle)}, torch::kFloat),
            torch::tensor(spiral, torch::kFloat)};
  }
  std::int64_t count, first;
};
struct OwnRecipe : Recipe {
  OwnRecipe(const OwnOptions& o, const Prepared&) : width(o.width), points(o.points) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<Net>(std::make_shared<nn::SequentialImpl>(
        nn::Linear(2, width), nn::Tanh(), nn::Linear(width, width), nn::Tanh(),
        nn::Linear(width, 1)));
  }
  DatasetPair data() override {
    return {std::make_shared<Spirals>(points, 0), std::make_shared<Spirals>(300, points)};
  }
  at::Tensor logits(Model& model, const Batch& batch, StepContext& context) {
    const at::Tensor x = batch.tensors[0].to(context.compute_dtype);
    return dynamic_cast<Net&>(model).module().forward(x).squeeze(1).to(torch::kFloat);
  }
  std::vector<double> loss_weights(const Batch& b) const override {
    return {b.row_weight.sum().item<double>()};
  }
  std::vector<at::Tensor> loss(Model& m, const Batch& b, StepContext& c) override {
    return {torch::binary_cross_entropy_with_logits(logits(m, b, c), b.tensors[1], b.row_weight, {},
                                                    at::Reduction::Sum)};
  }
  at::Tensor evaluate(Model& m, const Batch& b, StepContext& c) override {
    return (logits(m, b, c) > 0).eq(b.tensors[1] > 0.5).to(torch::kDouble).unsqueeze(1);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"accuracy", records.dense().mean().item<double>(), "", /*lower_is_better=*/false}};
  }
  std::int64_t width, points;
};
LOCKSTEP_PLUGIN("own", "tells two spirals apart", OwnOptions, OwnRecipe)
