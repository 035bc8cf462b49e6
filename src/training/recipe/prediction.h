// Declares the types with which a recipe predicts items in `lockstep predict`. An item is usually
// one input file, from which output files are made.
#pragma once

#include "planning/order/predict_items.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

class Model;

// An additional output file of an item, for example an annotated picture.
struct ItemFile {
  std::string name;     // path of the file, relative to the folder of outputs
  std::string bytes{};  // content of the file, if `path` is empty
  // A file in ItemContext::scratch that is moved to `name`. If `path` is set, `bytes` is not used.
  std::filesystem::path path;
};

struct ItemOutput {
  // The content of the item's own file, if the item has one (PredictItem::output). The
  // PredictionWriter gets this content too.
  std::string bytes{};
  std::vector<ItemFile> files{};
  // A file in ItemContext::scratch that becomes the item's own file. It is used instead of `bytes`
  // for outputs that are larger than memory. The PredictionWriter then gets no bytes.
  std::filesystem::path path{};
  // A warning about the item, which is shown to the user. The text is empty if there is no warning.
  // A warning does not prevent the output.
  std::string warning{};
};

// One piece of an item that several devices predict together. The recipe decides which part of the
// work a piece is. The output must not depend on the number of pieces.
struct ItemPiece {
  std::int64_t index = 0, count = 1;
};

// A run of predict.also. The recipe averages its outputs with the outputs of the first run.
struct FurtherRun {
  std::string name;  // name of the run, for messages
  // A model of the same recipe with that run's weights. It is on the same device and in the same
  // mode as the first model. The model exists as long as the ItemContext.
  Model* model = nullptr;
  nlohmann::json extra;  // ItemContext::extra of that run
};

// The data and settings that the prediction of an item may use.
struct ItemContext {
  // Prepared::extra of the run, updated by the Prepared::extra that the recipe's `prepare` returns
  // for Purpose::predict.
  nlohmann::json extra;
  // A folder of this rank for files that become outputs. It is on the same disk as the outputs. The
  // files are moved later, so put PredictItem::index into their names.
  std::filesystem::path scratch;
  at::Device device = at::kCPU;
  at::ScalarType compute_dtype = at::kFloat;
  // The runs of predict.also, in the user's order. The list is empty unless PredictInput::averages
  // is set.
  std::vector<FurtherRun> also{};

  // Returns all models whose outputs are averaged with equal weights: `first`, then the models of
  // `also`. first: the model that the recipe got with this context.
  std::vector<Model*> models(Model& first) const;
};

// An output file that is made from all items together. It has a temporary name until all items are
// done.
class JointOutput {
 public:
  virtual ~JointOutput() = default;
  virtual void write(std::string_view bytes) = 0;  // throws Error if the disk is full
  // The file's temporary path. A PredictionWriter may write this file itself instead of calling
  // `write`.
  virtual const std::filesystem::path& path() const = 0;
};

class JointOutputs {
 public:
  virtual ~JointOutputs() = default;
  // Opens an output. name: one of PredictInput::joint_outputs, a path relative to the folder of
  // outputs. The result exists as long as this object.
  virtual JointOutput& open(const std::string& name) = 0;
  // All items in input order, including those that will be skipped.
  virtual const std::vector<PredictItem>& items() const = 0;
  virtual const nlohmann::json& extra() const = 0;  // ItemContext::extra
};

// Makes joint outputs. A writer receives the results of all items in input order. It runs on its
// own thread on rank 0.
class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  // Receives the result of an item. bytes: ItemOutput::bytes.
  virtual void add(const PredictItem& item, std::string_view bytes) = 0;
  virtual void skip(const PredictItem& item, const std::string& reason) {}
  virtual void finish() = 0;  // called after the last item
};

}  // namespace lockstep
