// The interface of a recipe: the engine sees this and nothing else of a task. The same header
// serves the recipes in this repository and models outside it (see examples/own_model).
#pragma once

#include "core/base/error.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/dropout/dropout.h"
#include "ops/shared/recompute.h"
#include "planning/options/optimizers.h"
#include "planning/recipe_info.h"
#include "runtime/run/predictions/evaluation_output.h"
#include "training/data/dataset.h"
#include "training/recipe/prediction.h"
#include "training/recipe/records.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct NamedTensor {
  std::string name;  // the model's own, "blocks.0.ln1.weight"; unique
  at::Tensor tensor;
};

// A leaf tensor on the CPU when built. One that requires grad is trained, and fp32 then. Any other
// is frozen: saved and restored as it is, with neither gradient nor moments; floating ones the
// engine casts to the compute dtype, f64, i64, i32, i16, i8, u8 and bool may come too. The same
// tensor, or one that shares all its memory, may come under several names: then it is one
// parameter, with the first name's marks. The engine replaces storage and dtype
// (Tensor::set_data), never the handle.
struct Parameter {
  std::string name;
  at::Tensor tensor;
  bool decay = true;  // false for norms and biases; optimizer.decay_norms_and_biases overrides
  double lr_scale = 1;
  // An embedding (rows that are looked up) or a head (the last layer, which makes the outputs):
  // optimizer.kind=muon leaves both to AdamW. Where no parameter of a model is marked, the first
  // and the last of two dimensions are taken for them.
  ParameterUse use = ParameterUse::usual;
};

// Holds parameters and buffers. Not thread-safe.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::vector<Parameter> parameters() = 0;           // the same order on every rank
  virtual std::vector<NamedTensor> buffers() { return {}; }  // batch-norm statistics and the like
  virtual void train(bool on) {}
};

// The surroundings that one forward pass may use.
class StepContext {
 public:
  bool training = true;
  at::ScalarType compute_dtype = at::kFloat;  // dtype of the parameters: cast floating inputs to it
  at::Device device = at::kCPU;
  // i64 [3] on `device`: seed, step, first_global_row. On the device so that a captured graph reads
  // it.
  at::Tensor counters;
  // f32 [terms] on `device` while training: the factor by which backward will multiply the gradient
  // of each term's sum, for operations that make gradients during forward
  // (ops/cross_entropy/cross_entropy.h). Undefined otherwise.
  at::Tensor gradient_scale;
  // The model's first so many blocks are computed again in backward: what the plan made of
  // memory.recompute.
  std::int64_t recomputed_blocks = 0;
  // Called where a block of the model begins, with its number and parameters; or empty.
  std::function<void(std::int64_t, const std::vector<at::Tensor>&)> before_block;
  // In an evaluation whose run keeps files: takes pictures of its samples, from any rank. Else
  // null.
  EvaluationOutput* output = nullptr;
  bool no_dropout = false;  // `dropout` is the identity: for the check of the contract

  // The numbers of Recipe::logged, which `log` adds to. f64 [logged, 2] on `device`: sums and
  // weights.
  at::Tensor logged;
  std::vector<std::string> logged_names;

  // Adds to a number that is logged beside the loss: of all ranks and micro-batches of a step the
  // sum of `sum` over the sum of `weight` is logged. sum, weight: 0-dim on `device`, any dtype;
  // needs no gradient. Does not synchronise the device. Not inside of `block`, which may run
  // twice. Nothing while evaluating. Throws Error, with the nearest name, where the recipe does not
  // declare `name`.
  void log(const std::string& name, const at::Tensor& sum, const at::Tensor& weight) const;

  // x * mask / (1 - p), mask drawn from (seed, step, layer, place of the row, element): dimension 0
  // of x is the row of the micro-batch. x f32|bf16|f16, contiguous. The identity if not training or
  // p == 0. `layer` tells the dropouts of one model apart.
  at::Tensor dropout(const at::Tensor& x, double p, std::int64_t layer) const;
  // The same where rows differ in length and lie one behind the other: x [N, ...]; row b of the
  // micro-batch is x[row_offsets[b]] to x[row_offsets[b + 1] - 1] (i32|i64 [B + 1], on `device`),
  // and an element is told by its place in its row. Elements that belong to no row become 0.
  at::Tensor dropout(const at::Tensor& x, const at::Tensor& row_offsets, double p,
                     std::int64_t layer) const;

  // The same for an operation that takes a dropout in (ops/layer_norm/layer_norm.h). row_offsets:
  // undefined where dimension 0 is the row.
  DropoutDraw dropout_draw(const at::Tensor& row_offsets, double p, std::int64_t layer) const;

  // How statistics of batch norm come about: norm.statistics. of_ranks: set where they span ranks.
  bool frozen_statistics = false;
  std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks;
  // ops/batch_norm/batch_norm.h as norm.statistics says; training/recipe/batch_norm.h has it as a
  // module.
  at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state,
                        const AfterNorm& after = {}, const KnownMoments& known = {}) const;
  // Whether it takes this rank's own statistics, so that a convolution may tell it of them.
  bool wants_moments() const {
    return training && !frozen_statistics && statistics_of_ranks == nullptr;
  }

  // f32 [rows, n] in [0, 1) on `device`, for augmentation (ops/augment/augment.h): drawn from
  // (seed, step, layer, place of the row, element), so the same on any number of ranks, and again
  // where backward asks again. `rows`: of the micro-batch. `layer` tells the draws of one recipe
  // apart; dropout's layers are others. Throws Error if not training.
  at::Tensor uniform(std::int64_t rows, std::int64_t n, std::int64_t layer) const;

  // function(inputs), block number `index` of the model, with or without keeping its activations
  // (ops/shared/recompute.h). `parameters`: all that the block uses. The function must not refer to
  // this context, but may hold a copy. Splitting a model into blocks gains twice. It saves memory
  // where that is needed. It also saves time, because the update of a block's weights overlaps with
  // the blocks before it.
  std::vector<at::Tensor> block(std::int64_t index, const PureFunction& function,
                                const std::vector<at::Tensor>& inputs,
                                const std::vector<at::Tensor>& parameters) const;
};

// For a forward pass that predicts: not training, with the device and the dtype of the context.
StepContext prediction_context(const ItemContext& context);

struct Metric {
  std::string name;  // "loss", "accuracy"
  double value = 0;
  std::string unit;  // "nats/token"
  bool lower_is_better = true;
};

struct PredictRequest {
  nlohmann::json extra;  // the run's Prepared::extra, with that of Purpose::predict over it
  std::string run_dir;   // for what is no text: files go below predictions/ in it
  std::function<void(const std::string&)> out;  // text for standard output, as it comes; always set
  at::Device device = at::kCPU;
  at::ScalarType compute_dtype = at::kFloat;
};

StepContext prediction_context(const PredictRequest& request);

// Records that are not one per row.
class WrongRecords : public Error {
 public:
  using Error::Error;
};

class Recipe {
 public:
  virtual ~Recipe() = default;

  // A fresh model, fp32 on the CPU; the same for the same seed (use RandomStream::init).
  virtual std::unique_ptr<Model> build(std::uint64_t seed) = 0;
  virtual DatasetPair data() = 0;
  // Gives a freshly built model (on the CPU) its first weights and buffers, in place: where `build`
  // cannot, because they come from a file or follow from the data. Called once at a run's first
  // start, on rank 0 alone, whose weights then go to all; never where a run goes on, is evaluated
  // or predicts. Weights from init.from replace these. Throws Error.
  virtual void initialise(Model&) {}
  // How files of this field name what the model names otherwise, for init.from: pairs of patterns,
  // {"bert.*", "encoder.*"}, the first that leads to a name of the model's. {"fc.*", ""}: files
  // that have it are taken, though the model has no such tensor. {"", "head.*"}: files that lack it
  // are taken, and the model keeps its own.
  virtual std::vector<std::pair<std::string, std::string>> weight_names() const { return {}; }

  // Names of the loss's terms; the reported loss is the sum of the terms' means.
  virtual std::vector<std::string> terms() const { return {"loss"}; }
  // Names of numbers that are logged with the loss and are no part of it: see StepContext::log.
  virtual std::vector<std::string> logged() const { return {}; }
  // Host: the weight of each term in this micro-batch (tokens, voxels, items), padding rows counted
  // 0. Known from the batch alone; the engine adds them over ranks and micro-batches. A weight that
  // is known on the device only is NaN, and refused. Called from several threads at once.
  virtual std::vector<double> loss_weights(const Batch& batch) const = 0;
  // One 0-dim f32 tensor a term: the sum over the rows (padding rows times their weight 0), not
  // divided by anything. Does not synchronise the device.
  virtual std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) = 0;

  // One record per row, [B, R] of numbers, any R above 0: what `metrics` needs of that sample.
  // Without gradients. Padding rows may hold anything: the engine drops them, shards samples over
  // ranks and gathers rows in order. Row i is validation sample batch.first_global_row + i.
  virtual at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context);
  // In place of `evaluate` where records differ in length: a tensor of numbers per row, of any
  // shape, which may be empty. The default makes them of `evaluate`. Recipes override one of the
  // two.
  virtual std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                                 StepContext& context);
  // Whether the two functions below make records too. If so, devices share a sample when there are
  // fewer validation samples than devices, with one row per sample.
  virtual bool evaluates_pieces() const { return false; }
  // The result that one device makes of its piece of `sample`, a batch of one row: u8 of any
  // length, on the device or the host. May be empty.
  virtual at::Tensor evaluate_piece(Model& model, const Batch& sample, ItemPiece piece,
                                    StepContext& context);
  // On one rank: the record of all pieces in their order, each u8 [any] on the CPU. The same
  // numbers as evaluate_items gives, however many there are.
  virtual at::Tensor join_evaluated(const Batch& sample, const std::vector<at::Tensor>& pieces,
                                    StepContext& context);
  // Record i is that of validation sample i (with several rows a sample: of its row
  // i % rows_per_sample(), the sample being i / rows_per_sample()); the same on all ranks. At least
  // one metric, whatever the records. The first is the default of `checkpoint.best_metric`. List the
  // names in RecipeOptions::metric_names (planning/recipe_info.h) too. records.dense() is [N, R]
  // where all have one length.
  virtual std::vector<Metric> metrics(const Records& records) const = 0;
  // A row per item, which the run keeps beside the metrics: of what the records say. On rank 0
  // alone, after `metrics`; `output` takes further tables and pictures. The default: no table.
  virtual ItemTable items(const Records& records, EvaluationOutput& output) const;

  // Streams a text. The default throws Error: nothing to predict.
  virtual void predict(Model& model, const PredictRequest& request);

  // For recipes whose RecipeOptions::predict_input has items, on every rank, without gradients: an
  // output for each of these items, which follow each other (PredictInput::batch of them, or fewer
  // at the end). An item that cannot be used: throw Error, which says why, without its name; each
  // item is then tried by itself. The outputs may depend on the items alone. The default calls
  // `predict_item`.
  virtual std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                                const ItemContext& context);
  virtual ItemOutput predict_item(Model& model, const PredictItem& item,
                                  const ItemContext& context);
  // These two replace the above for items with PredictItem::pieces above 1, if there are fewer
  // items than devices. predict_piece gives what one device makes of the item: `bytes`, or a file
  // of ItemContext::scratch as `path`, no `files`. join_pieces, on the rank that ends last, makes
  // the item's output of all pieces in their order. The defaults throw.
  virtual ItemOutput predict_piece(Model& model, const PredictItem& item, ItemPiece piece,
                                   const ItemContext& context);
  virtual ItemOutput join_pieces(const PredictItem& item, const std::vector<ItemOutput>& pieces,
                                 const ItemContext& context);
  // On rank 0: makes the outputs that hold all items. Null: there are none.
  virtual std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) {
    return nullptr;
  }
  // How a sample could be made smaller, as words of a message when not even one fits into memory:
  // "model.context=512 instead of 1024"; "": no way.
  virtual std::string smaller_sample() const { return ""; }
};

// Makes a recipe of checked options and what preparation found.
using RecipeFactory =
    std::function<std::unique_ptr<Recipe>(const RecipeOptions& options, const Prepared& prepared)>;

void register_recipe_factory(const std::string& name, RecipeFactory factory);
const RecipeFactory& find_recipe_factory(const std::string& name);  // throws Error

}  // namespace lockstep
