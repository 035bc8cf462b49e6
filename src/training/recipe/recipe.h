// Declares the interface of a recipe: model, data, loss, metrics and prediction for one task. The
// engine (the code that trains, evaluates and predicts) knows a task only through this interface.
// Recipes in this repository and plugins outside of it use the same header (see
// examples/own_model).
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
  std::string name;  // the tensor's name in the model, such as "blocks.0.ln1.weight"; unique
  at::Tensor tensor;
};

// A parameter of a model: a leaf tensor, which must be on the CPU when the model is built. If it
// requires grad, it is trained and must be fp32. If it does not require grad, it is frozen: it is
// saved and restored, but has no gradient and no optimizer state. The engine casts floating-point
// frozen parameters to the compute dtype. Frozen parameters may have the dtypes f64, f32, f16,
// bf16, i64, i32, i16, i8, u8 and bool. The same tensor, or one that shares all its memory, may be
// listed under several names. Then all these names belong to one parameter, with the settings of
// the first name. The engine replaces storage and dtype of the tensor (Tensor::set_data), but never
// the handle.
struct Parameter {
  std::string name;
  at::Tensor tensor;
  // Whether weight decay applies; usually false for norms and biases.
  // optimizer.decay_norms_and_biases overrides it.
  bool decay = true;
  double lr_scale = 1;
  // Marks an embedding (rows that are looked up) or a head (the last layer, which makes the
  // outputs). With optimizer.kind=muon, AdamW updates both. If a model marks no parameter, its
  // first two-dimensional parameter is taken as the embedding, and its last two-dimensional
  // parameter as the head.
  ParameterUse use = ParameterUse::usual;
};

// Holds the parameters and buffers of a model. An object is not thread-safe.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::vector<Parameter> parameters() = 0;  // must be in the same order on every rank
  virtual std::vector<NamedTensor> buffers() { return {}; }  // such as batch-norm statistics
  virtual void train(bool on) {}
};

// The settings and functions that one forward pass may use.
class StepContext {
 public:
  bool training = true;
  // The dtype of the parameters. The model must cast floating-point inputs to this dtype.
  at::ScalarType compute_dtype = at::kFloat;
  at::Device device = at::kCPU;
  // i64 [3] on `device`: the run's seed, the step and Batch::first_global_row. The tensor is on the
  // device because a CUDA graph must read new values in each replay.
  at::Tensor counters;
  // The factors by which backward will multiply the gradients of the loss terms. The tensor is f32
  // [terms] on `device` while training, else undefined. Operations that compute gradients during
  // forward need these factors (ops/cross_entropy/cross_entropy.h).
  at::Tensor gradient_scale;
  // The number of blocks that are recomputed in backward, counted from the model's first block (see
  // `block`). The plan derives this number from memory.recompute.
  std::int64_t recomputed_blocks = 0;
  // A function that `block` calls where a block of the model begins, with the block's number and
  // parameters. The function may be empty.
  std::function<void(std::int64_t, const std::vector<at::Tensor>&)> before_block;
  // Receives pictures of samples during an evaluation, on any rank. The pointer is null while
  // training, and if the run keeps no files of evaluations.
  EvaluationOutput* output = nullptr;
  bool no_dropout = false;  // if true, `dropout` returns x itself; the contract check sets it

  // The sums and weights of the values of Recipe::logged, f64 [logged, 2] on `device`. `log` adds
  // to this tensor.
  at::Tensor logged;
  std::vector<std::string> logged_names;

  // Adds to a value that is logged together with the loss. In each step, `sum` and `weight` are
  // added up over ranks and micro-batches. The logged value is the total of `sum` divided by the
  // total of `weight`. Does not synchronise the device. Does nothing if `training` is false. Do not
  // call it inside the function of `block`, which may run twice. Throws Error if Recipe::logged
  // does not list `name`, and suggests the nearest name.
  //   sum, weight: 0-dim on `device`, any dtype; they need no gradient
  void log(const std::string& name, const at::Tensor& sum, const at::Tensor& weight) const;

  // Dropout: returns x * mask / (1 - p). The mask depends only on seed, step, layer, the row's
  // place in the global batch, and the element. Returns x itself if `training` is false, if p == 0,
  // or if no_dropout is true.
  //   x: f32|bf16|f16, contiguous; dimension 0 is the row of the micro-batch
  //   layer: a number that is different for each dropout of a model
  at::Tensor dropout(const at::Tensor& x, double p, std::int64_t layer) const;
  // Dropout for concatenated rows of different lengths. Row b of the micro-batch is
  // x[row_offsets[b]] to x[row_offsets[b + 1] - 1]. The mask depends on the element's place within
  // its row. Elements that belong to no row become 0.
  //   x: [N, ...], f32|bf16|f16, contiguous
  //   row_offsets: i32|i64 [B + 1] on `device`
  at::Tensor dropout(const at::Tensor& x, const at::Tensor& row_offsets, double p,
                     std::int64_t layer) const;

  // Returns the settings of a dropout, for operations that include a dropout
  // (ops/layer_norm/layer_norm.h). row_offsets: undefined if dimension 0 is the row.
  DropoutDraw dropout_draw(const at::Tensor& row_offsets, double p, std::int64_t layer) const;

  // The statistics with which batch norm normalises (norm.statistics). If frozen_statistics is
  // true, batch norm uses the running statistics. If statistics_of_ranks is not null, batch norm
  // uses statistics over the rows of all ranks.
  bool frozen_statistics = false;
  std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks;
  // Computes batch norm (ops/batch_norm/batch_norm.h) with the statistics that norm.statistics
  // selects. training/recipe/batch_norm.h has a module for it.
  at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state,
                        const AfterNorm& after = {}, const KnownMoments& known = {}) const;
  // Whether batch norm takes the statistics of this rank's rows. If so, a convolution may compute
  // these statistics in advance (KnownMoments).
  bool wants_moments() const {
    return training && !frozen_statistics && statistics_of_ranks == nullptr;
  }

  // Returns random numbers in [0, 1) for augmentation (ops/augment/augment.h), f32 [rows, n] on
  // `device`. They depend only on seed, step, layer, the row's place in the global batch, and the
  // element. So they are the same on any number of ranks, and the same when backward recomputes
  // them. Throws Error if `training` is false.
  //   rows: the number of rows of the micro-batch
  //   layer: a number that is different for each draw of a recipe; it may be equal to the number of
  //     a dropout
  at::Tensor uniform(std::int64_t rows, std::int64_t n, std::int64_t layer) const;

  // Returns function(inputs), which computes block number `index` of the model. Backward may
  // recompute the block instead of keeping its activations, which saves memory
  // (ops/shared/recompute.h). Blocks can also save time, because the update of a block's weights
  // overlaps with the computation of earlier blocks. `function` must not refer to this context, but
  // may hold a copy of it. `parameters` must contain all parameters that the block uses.
  std::vector<at::Tensor> block(std::int64_t index, const PureFunction& function,
                                const std::vector<at::Tensor>& inputs,
                                const std::vector<at::Tensor>& parameters) const;
};

// Makes the context of a forward pass for prediction. `training` is false, and the device and the
// dtype come from `context`.
StepContext prediction_context(const ItemContext& context);

struct Metric {
  std::string name;  // such as "loss" or "accuracy"
  double value = 0;
  std::string unit;  // such as "nats/token"
  bool lower_is_better = true;
};

struct PredictRequest {
  // Prepared::extra of the run, updated by the Prepared::extra that the recipe's `prepare` returns
  // for Purpose::predict.
  nlohmann::json extra;
  std::string run_dir;  // the run's folder; files other than text go below predictions/ in it
  // Writes text to standard output, piece by piece. The function is never empty.
  std::function<void(const std::string&)> out;
  at::Device device = at::kCPU;
  at::ScalarType compute_dtype = at::kFloat;
};

StepContext prediction_context(const PredictRequest& request);

// Thrown if a recipe does not return exactly one valid record for each row.
class WrongRecords : public Error {
 public:
  using Error::Error;
};

class Recipe {
 public:
  virtual ~Recipe() = default;

  // Makes a new model, fp32 on the CPU. The same seed must give the same model. Take random numbers
  // from RandomStream::init.
  virtual std::unique_ptr<Model> build(std::uint64_t seed) = 0;
  virtual DatasetPair data() = 0;
  // Changes the weights and buffers of a freshly built model on the CPU, in place. The function is
  // for values that `build` cannot set because they come from a file or from the data. It is called
  // once, when a run begins anew, on rank 0 only. All ranks then get rank 0's weights. It is not
  // called when a run resumes, evaluates or predicts. Weights from init.from replace these values.
  // The function may throw Error, for example if a file cannot be read.
  virtual void initialise(Model&) {}
  // Translates tensor names that are common in weight files of the recipe's field into the model's
  // names, for init.from. Each pair has a pattern for names in the file and a pattern for names in
  // the model, such as {"bert.*", "encoder.*"}. The first pair that gives a name of the model is
  // used. The pair {"fc.*", ""} allows a file to have such tensors although the model lacks them.
  // The pair {"", "head.*"} allows a file to lack such tensors; the model then keeps its own values
  // for them.
  virtual std::vector<std::pair<std::string, std::string>> weight_names() const { return {}; }

  // The names of the loss's terms. The reported loss is the sum of the terms' means.
  virtual std::vector<std::string> terms() const { return {"loss"}; }
  // The names of values that are logged together with the loss, but are not part of it
  // (StepContext::log).
  virtual std::vector<std::string> logged() const { return {}; }
  // Returns the weight of each term in this micro-batch, such as the number of tokens, voxels or
  // items. Padding rows must count 0. The batch is on the host. The weights must depend only on the
  // batch. The engine adds them up over ranks and micro-batches. If a recipe can know a weight only
  // on the device, it returns NaN, and the engine throws Error. Several threads may call this
  // function at once.
  virtual std::vector<double> loss_weights(const Batch& batch) const = 0;
  // Returns one 0-dim f32 tensor per term: the sum over the rows, not divided by anything. Padding
  // rows must add 0, for example by a factor of Batch::row_weight. Must not synchronise the device.
  virtual std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) = 0;

  // Returns one record per row, [B, R] of numbers, with any R above 0. A record holds the numbers
  // that `metrics` needs about that row. The function is called with autograd off. The records of
  // padding rows are dropped, so they may hold anything. The engine divides rows among ranks and
  // gathers records in order. Row i of the batch is row batch.first_global_row + i of the
  // validation set.
  virtual at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context);
  // Replaces `evaluate` if records differ in length. Returns a tensor of numbers for each row,
  // which may have any shape and may be empty. The default returns the rows of the tensor that
  // `evaluate` returns. A recipe overrides either `evaluate` or `evaluate_items`.
  virtual std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                                 StepContext& context);
  // Whether the recipe also implements evaluate_piece and join_evaluated. Then several devices can
  // share a sample. Devices share samples if there are fewer validation samples than devices and
  // each sample has one row.
  virtual bool evaluates_pieces() const { return false; }
  // Evaluates one piece of `sample`, a batch of one row, on one device. Returns u8 of any length
  // and any meaning, on the device or the host. The result may be empty.
  virtual at::Tensor evaluate_piece(Model& model, const Batch& sample, ItemPiece piece,
                                    StepContext& context);
  // Joins the results of all pieces into the record of the sample, on one rank. The record must
  // equal the one that evaluate_items returns, for any number of pieces. pieces: the results of
  // evaluate_piece in order, each u8 [any] on the CPU.
  virtual at::Tensor join_evaluated(const Batch& sample, const std::vector<at::Tensor>& pieces,
                                    StepContext& context);
  // Computes the metrics. It is called with the same records on all ranks. Record i belongs to row
  // i of the validation set. If samples have one row each, row i is sample i. If samples have
  // several rows, row i is row number i % rows_per_sample() of sample i / rows_per_sample(). Must
  // return at least one metric for any records. The first metric is the default of
  // checkpoint.best_metric. RecipeOptions::metric_names (planning/recipe_info.h) must list the same
  // names. records.dense() is [N, R] if all records have the same length.
  virtual std::vector<Metric> metrics(const Records& records) const = 0;
  // Makes a table with one row per item from the records. The run keeps the table together with the
  // metrics. The function is called on rank 0 only, after `metrics`. The recipe may add other
  // tables and pictures to `output`. The default makes no table.
  virtual ItemTable items(const Records& records, EvaluationOutput& output) const;

  // Makes predictions that need no input items, and writes them as text to request.out. The default
  // throws Error.
  virtual void predict(Model& model, const PredictRequest& request);

  // Predicts items, for recipes whose RecipeOptions::predict_input has items. The function is
  // called on every rank, with autograd off. `items` has PredictInput::batch consecutive items, or
  // fewer. Returns one output for each item. If an item cannot be used, throw Error with the
  // reason, but without the item's name. Each item is then tried alone. The outputs must depend on
  // nothing but the items. The default calls predict_item for each item.
  virtual std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                                const ItemContext& context);
  virtual ItemOutput predict_item(Model& model, const PredictItem& item,
                                  const ItemContext& context);
  // These two functions replace predict_items for items with PredictItem::pieces above 1, if there
  // are fewer items than devices. predict_piece returns one piece of the output, in `bytes` or as a
  // file `path` in ItemContext::scratch. The piece's `files` must be empty. join_pieces makes the
  // item's output from all pieces in order. It runs on the rank that finishes its piece last. The
  // defaults throw Error.
  virtual ItemOutput predict_piece(Model& model, const PredictItem& item, ItemPiece piece,
                                   const ItemContext& context);
  virtual ItemOutput join_pieces(const PredictItem& item, const std::vector<ItemOutput>& pieces,
                                 const ItemContext& context);
  // Makes the writer of outputs that are made from all items. It is called on rank 0. Returns null
  // if there are no such outputs.
  virtual std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) {
    return nullptr;
  }
  // Says how a sample could be made smaller, such as "model.context=512 instead of 1024". Returns
  // "" if a sample cannot be made smaller. The out-of-memory message shows this text if not even
  // one sample fits into memory.
  virtual std::string smaller_sample() const { return ""; }
};

// Makes a recipe from checked options and the result of RecipeOptions::prepare.
using RecipeFactory =
    std::function<std::unique_ptr<Recipe>(const RecipeOptions& options, const Prepared& prepared)>;

void register_recipe_factory(const std::string& name, RecipeFactory factory);
const RecipeFactory& find_recipe_factory(const std::string& name);  // throws Error

}  // namespace lockstep
