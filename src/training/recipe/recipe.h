// The interface of a recipe. The engine knows a task only through this interface. The same header
// serves the recipes in this repository and models outside of it (see examples/own_model).
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

// A leaf tensor, on the CPU when it is built. If it requires grad, it is trained and must be fp32.
// Otherwise it is frozen: saved and restored as it is, with neither gradient nor moments. The
// engine casts floating-point frozen parameters to the compute dtype. Frozen parameters may also be
// f64, i64, i32, i16, i8, u8 and bool. The same tensor, or one that shares all its memory, may come
// under several names. Then it is one parameter, with the marks of the first name. The engine
// replaces storage and dtype (Tensor::set_data), never the handle.
struct Parameter {
  std::string name;
  at::Tensor tensor;
  bool decay = true;  // false for norms and biases; optimizer.decay_norms_and_biases overrides
  double lr_scale = 1;
  // Marks an embedding (rows that are looked up) or a head (the last layer, which makes the
  // outputs). optimizer.kind=muon leaves both to AdamW. If no parameter of a model is marked, the
  // first and the last parameter of two dimensions count as embedding and head.
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

// The environment that one forward pass may use.
class StepContext {
 public:
  bool training = true;
  // Dtype of the parameters; cast floating-point inputs to it.
  at::ScalarType compute_dtype = at::kFloat;
  at::Device device = at::kCPU;
  // i64 [3] on `device`: seed, step, first_global_row. It is on the device so that a captured graph
  // can read it.
  at::Tensor counters;
  // f32 [terms] on `device` while training, else undefined. The factor by which backward will
  // multiply the gradient of each term's sum. Operations that compute gradients during forward need
  // it (ops/cross_entropy/cross_entropy.h).
  at::Tensor gradient_scale;
  // The number of first blocks of the model that are computed again in backward. The plan derives
  // it from memory.recompute.
  std::int64_t recomputed_blocks = 0;
  // Called where a block of the model begins, with the block's number and parameters. May be empty.
  std::function<void(std::int64_t, const std::vector<at::Tensor>&)> before_block;
  // Takes pictures of samples, from any rank, in an evaluation whose run keeps files. Otherwise
  // null.
  EvaluationOutput* output = nullptr;
  bool no_dropout = false;  // true: `dropout` is the identity, for the contract check

  // The values of Recipe::logged, to which `log` adds. f64 [logged, 2] on `device`: sums and
  // weights.
  at::Tensor logged;
  std::vector<std::string> logged_names;

  // Adds to a value that is logged together with the loss. The logged value is the sum of `sum`
  // divided by the sum of `weight`, over all ranks and micro-batches of a step. sum, weight: 0-dim
  // on `device`, any dtype; no gradient is needed. Does not synchronise the device. Do not call it
  // inside `block`, which may run twice. Does nothing while evaluating. If the recipe does not
  // declare `name`, throws Error with the nearest name.
  void log(const std::string& name, const at::Tensor& sum, const at::Tensor& weight) const;

  // Returns x * mask / (1 - p). The mask is drawn from (seed, step, layer, place of the row,
  // element). Dimension 0 of x is the row of the micro-batch. x: f32|bf16|f16, contiguous. Returns
  // x itself if not training or if p == 0. `layer` distinguishes the dropouts of one model.
  at::Tensor dropout(const at::Tensor& x, double p, std::int64_t layer) const;
  // The same for concatenated rows of different lengths. x: [N, ...]. Row b of the micro-batch is
  // x[row_offsets[b]] to x[row_offsets[b + 1] - 1]. row_offsets: i32|i64 [B + 1], on `device`. An
  // element is identified by its place in its row. Elements that belong to no row become 0.
  at::Tensor dropout(const at::Tensor& x, const at::Tensor& row_offsets, double p,
                     std::int64_t layer) const;

  // The same for an operation that includes a dropout (ops/layer_norm/layer_norm.h). row_offsets:
  // undefined if dimension 0 is the row.
  DropoutDraw dropout_draw(const at::Tensor& row_offsets, double p, std::int64_t layer) const;

  // How batch norm computes its statistics (norm.statistics). statistics_of_ranks: set if they span
  // the ranks.
  bool frozen_statistics = false;
  std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks;
  // Batch norm (ops/batch_norm/batch_norm.h) as norm.statistics says. training/recipe/batch_norm.h
  // offers it as a module.
  at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state,
                        const AfterNorm& after = {}, const KnownMoments& known = {}) const;
  // Whether batch norm takes this rank's own statistics. Then a convolution may compute them for
  // it.
  bool wants_moments() const {
    return training && !frozen_statistics && statistics_of_ranks == nullptr;
  }

  // Returns random numbers f32 [rows, n] in [0, 1) on `device`, for augmentation
  // (ops/augment/augment.h). They are drawn from (seed, step, layer, place of the row, element). So
  // they are the same on any number of ranks, and the same when backward computes them again.
  // `rows`: the rows of the micro-batch. `layer` distinguishes the draws of one recipe, and is
  // independent of the layers of dropout. Throws Error if not training.
  at::Tensor uniform(std::int64_t rows, std::int64_t n, std::int64_t layer) const;

  // Returns function(inputs), which is block number `index` of the model. It may keep the block's
  // activations or compute them again in backward (ops/shared/recompute.h). `parameters`: all that
  // the block uses. The function must not refer to this context, but may hold a copy. Splitting a
  // model into blocks has two advantages. It saves memory where that is needed. It also saves time,
  // because the update of a block's weights overlaps with the blocks before it.
  std::vector<at::Tensor> block(std::int64_t index, const PureFunction& function,
                                const std::vector<at::Tensor>& inputs,
                                const std::vector<at::Tensor>& parameters) const;
};

// Makes the context of a forward pass for prediction: not training, with the device and the dtype
// of `context`.
StepContext prediction_context(const ItemContext& context);

struct Metric {
  std::string name;  // "loss", "accuracy"
  double value = 0;
  std::string unit;  // "nats/token"
  bool lower_is_better = true;
};

struct PredictRequest {
  nlohmann::json extra;  // the run's Prepared::extra, with that of Purpose::predict over it
  std::string run_dir;   // for outputs other than text: files go below predictions/ in it
  std::function<void(const std::string&)> out;  // takes text for standard output, piece by piece;
                                                // always set
  at::Device device = at::kCPU;
  at::ScalarType compute_dtype = at::kFloat;
};

StepContext prediction_context(const PredictRequest& request);

// A recipe returned records that are not one per row.
class WrongRecords : public Error {
 public:
  using Error::Error;
};

class Recipe {
 public:
  virtual ~Recipe() = default;

  // Makes a new model, fp32 on the CPU. The same seed gives the same model (use
  // RandomStream::init).
  virtual std::unique_ptr<Model> build(std::uint64_t seed) = 0;
  virtual DatasetPair data() = 0;
  // Gives a freshly built model (on the CPU) its first weights and buffers, in place. It is for
  // values that `build` cannot set, because they come from a file or from the data. Called once, at
  // a run's first start, on rank 0 only. All ranks then get rank 0's weights. Not called when a run
  // is resumed or evaluated, or when it predicts. Weights from init.from replace these. Throws
  // Error.
  virtual void initialise(Model&) {}
  // For init.from: translates names in files that are common in this field into the model's names.
  // Each pair has a pattern for the file and one for the model, such as {"bert.*", "encoder.*"}.
  // The first pair that gives a name of the model counts. {"fc.*", ""}: files may have such
  // tensors, although the model lacks them. {"", "head.*"}: files may lack such tensors, and the
  // model keeps its own values.
  virtual std::vector<std::pair<std::string, std::string>> weight_names() const { return {}; }

  // Names of the loss's terms; the reported loss is the sum of the terms' means.
  virtual std::vector<std::string> terms() const { return {"loss"}; }
  // Names of values that are logged together with the loss but are not part of it
  // (StepContext::log).
  virtual std::vector<std::string> logged() const { return {}; }
  // Returns the weight of each term in this micro-batch (tokens, voxels, items). It runs on the
  // host. Padding rows count 0. The weights must follow from the batch alone. The engine adds them
  // up over ranks and micro-batches. A recipe that knows a weight only on the device returns NaN
  // for it, which the engine refuses. Called from several threads at once.
  virtual std::vector<double> loss_weights(const Batch& batch) const = 0;
  // Returns one 0-dim f32 tensor per term: the sum over the rows (padding rows times their weight
  // 0), not divided by anything. Must not synchronise the device.
  virtual std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) = 0;

  // Returns one record per row, [B, R] of numbers, with any R above 0. A record holds the numbers
  // that `metrics` needs of that sample. Called without gradients. Padding rows may hold anything,
  // because the engine drops them. The engine divides samples among ranks and gathers rows in
  // order. Row i is validation sample batch.first_global_row + i.
  virtual at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context);
  // Replaces `evaluate` if records differ in length. Returns a tensor of numbers per row, of any
  // shape, which may be empty. The default takes the rows of `evaluate`. Recipes override one of
  // the two.
  virtual std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                                 StepContext& context);
  // Whether evaluate_piece and join_evaluated make records too. If so, devices share a sample when
  // there are fewer validation samples than devices and each sample has one row.
  virtual bool evaluates_pieces() const { return false; }
  // Returns the result of one device for its piece of `sample`, a batch of one row. The result is
  // u8 of any length, on the device or the host. It may be empty.
  virtual at::Tensor evaluate_piece(Model& model, const Batch& sample, ItemPiece piece,
                                    StepContext& context);
  // Runs on one rank. Returns the record that results from all pieces in order, each u8 [any] on
  // the CPU. The numbers must equal those of evaluate_items, for any number of pieces.
  virtual at::Tensor join_evaluated(const Batch& sample, const std::vector<at::Tensor>& pieces,
                                    StepContext& context);
  // Computes the metrics, with the same records on all ranks. Record i belongs to validation sample
  // i. With several rows per sample, it belongs to row i % rows_per_sample() of sample i /
  // rows_per_sample(). Returns at least one metric, whatever the records. The first metric is the
  // default of `checkpoint.best_metric`. List the names in RecipeOptions::metric_names
  // (planning/recipe_info.h) too. records.dense() is [N, R] if all records have the same length.
  virtual std::vector<Metric> metrics(const Records& records) const = 0;
  // Makes a table with one row per item from the records. The run keeps it together with the
  // metrics. Called on rank 0 only, after `metrics`. `output` takes further tables and pictures.
  // The default makes no table.
  virtual ItemTable items(const Records& records, EvaluationOutput& output) const;

  // Streams a text. The default throws Error, because there is nothing to predict.
  virtual void predict(Model& model, const PredictRequest& request);

  // For recipes whose RecipeOptions::predict_input has items. Called on every rank, without
  // gradients. Returns an output for each of `items`, which are consecutive (PredictInput::batch of
  // them, or fewer at the end). If an item cannot be used, throw Error with the reason, without the
  // item's name. Each item is then tried alone. The outputs must depend on nothing but the items.
  // The default calls `predict_item`.
  virtual std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                                const ItemContext& context);
  virtual ItemOutput predict_item(Model& model, const PredictItem& item,
                                  const ItemContext& context);
  // These two replace predict_items for items with PredictItem::pieces above 1, if there are fewer
  // items than devices. predict_piece returns one device's piece of the output: `bytes`, or a file
  // of ItemContext::scratch as `path`, but no `files`. join_pieces runs on the rank that ends last,
  // and makes the item's output from all pieces in order. The defaults throw Error.
  virtual ItemOutput predict_piece(Model& model, const PredictItem& item, ItemPiece piece,
                                   const ItemContext& context);
  virtual ItemOutput join_pieces(const PredictItem& item, const std::vector<ItemOutput>& pieces,
                                 const ItemContext& context);
  // On rank 0: makes the writer of outputs that hold all items. Null: there are no such outputs.
  virtual std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) {
    return nullptr;
  }
  // Says how a sample could be made smaller, for the message when not even one sample fits into
  // memory. For example "model.context=512 instead of 1024". "": there is no way.
  virtual std::string smaller_sample() const { return ""; }
};

// Makes a recipe from checked options and the results of preparation.
using RecipeFactory =
    std::function<std::unique_ptr<Recipe>(const RecipeOptions& options, const Prepared& prepared)>;

void register_recipe_factory(const std::string& name, RecipeFactory factory);
const RecipeFactory& find_recipe_factory(const std::string& name);  // throws Error

}  // namespace lockstep
