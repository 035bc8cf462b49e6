// A model of one's own in one file: which of two spirals does a point lie on?
#include <lockstep/engine/nn_model.h>
#include <lockstep/engine/register.h>
#include <torch/torch.h>

struct OwnOptions : lockstep::RecipeOptions {
  std::int64_t width = 48, points = 1200;
  OwnOptions() {
    table.add("model.width", width, {.meaning = "units of each hidden layer", .min = 1, .max = 4096});
    table.add("data.points", points, {.meaning = "training points", .min = 1, .max = 1e9});
  }
  void defaults(lockstep::TrainOptions& train, bool) const override {
    train.batch.global = 120;
    train.stop.epochs = 30;
    train.optimizer.lr = 0.01;
  }
};

struct Spirals : lockstep::Dataset {  // sample: position [2] f32, spiral [] f32
  Spirals(std::int64_t count, std::int64_t first) : count(count), first(first) {}
  std::int64_t size() const override { return count; }
  std::vector<at::Tensor> get(std::int64_t i, lockstep::SampleContext&) const override {
    lockstep::Random random(1, lockstep::Stream::sample, first + i, 0);
    const double turn = 3 * random.uniform(), spiral = i % 2, angle = 2 * turn + M_PI * spiral;
    return {torch::tensor({turn * std::cos(angle), turn * std::sin(angle)}, torch::kFloat),
            torch::tensor(spiral, torch::kFloat)};
  }
  std::int64_t count, first;
};
class OwnRecipe : public lockstep::Recipe {
 public:
  OwnRecipe(const OwnOptions& o, const lockstep::Prepared&) : width_(o.width), points_(o.points) {}
  std::unique_ptr<lockstep::Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    using namespace torch::nn;
    return std::make_unique<Net>(std::make_shared<SequentialImpl>(
        Linear(2, width_), Tanh(), Linear(width_, width_), Tanh(), Linear(width_, 1)));
  }
  lockstep::DatasetPair data() override {
    return {std::make_shared<Spirals>(points_, 0), std::make_shared<Spirals>(300, points_)};
  }
  std::vector<double> weigh(const lockstep::Batch& b) const override { return {b.row_weight.sum().item<double>()}; }
  std::vector<at::Tensor> loss(lockstep::Model& model, const lockstep::Batch& batch, lockstep::StepContext& context) override {
    return {torch::binary_cross_entropy_with_logits(logits(model, batch, context), batch.tensors[1], batch.row_weight, {}, at::Reduction::Sum)};
  }
  at::Tensor judge(lockstep::Model& model, const lockstep::Batch& batch, lockstep::StepContext& context) override {
    return (logits(model, batch, context) > 0).eq(batch.tensors[1] > 0.5).to(torch::kDouble).unsqueeze(1);
  }
  std::vector<lockstep::Metric> metrics(const at::Tensor& records) const override {
    return {{"accuracy", records.mean().item<double>(), "", /*lower_is_better=*/false}};
  }
  void predict(lockstep::Model&, const lockstep::PredictRequest& request) override { request.out("spirals have no outputs\n"); }
 private:
  using Net = lockstep::NnModel<torch::nn::SequentialImpl>;
  static at::Tensor logits(lockstep::Model& model, const lockstep::Batch& batch, lockstep::StepContext& context) {
    return dynamic_cast<Net&>(model).module().forward(batch.tensors[0].to(context.compute_dtype)).squeeze(1).to(torch::kFloat);
  }
  std::int64_t width_, points_;
};
LOCKSTEP_PLUGIN("own", "tells two spirals apart", OwnOptions, OwnRecipe)
