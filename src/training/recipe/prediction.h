// The part of a recipe for `lockstep predict` with items. It turns input files into output files.
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

// A further file of an item, for example an annotated picture.
struct ItemFile {
  std::string name;     // below the folder of outputs
  std::string bytes{};  // its content, if `path` is empty
  // A file of ItemContext::scratch that is moved to `name`, in place of `bytes`.
  std::filesystem::path path;
};

struct ItemOutput {
  // The content of the item's own file, if it has one (PredictItem::output). The writer gets it
  // too.
  std::string bytes{};
  std::vector<ItemFile> files{};
  // A file of ItemContext::scratch that becomes the item's own file, in place of `bytes`. It is
  // meant for outputs larger than memory. The writer then gets no bytes.
  std::filesystem::path path{};
  // A warning about the item, for people. The item is predicted nevertheless. "": no warning.
  std::string warning{};
};

// One of the pieces of an item that several devices make together. The recipe decides what each
// piece contains. The output must not depend on the number of pieces.
struct ItemPiece {
  std::int64_t index = 0, count = 1;
};

// A further run whose outputs are to be averaged with those of the first (predict.also).
struct FurtherRun {
  std::string name;  // for people
  // A model of the same recipe, with that run's weights, in the mode and on the device of the
  // first. Exists as long as the context.
  Model* model = nullptr;
  nlohmann::json extra;  // ItemContext::extra of that run
};

// The environment that the prediction of an item may use.
struct ItemContext {
  nlohmann::json extra;  // the run's Prepared::extra, with that of Purpose::predict over it
  // A folder of this rank, on the disk of the outputs, for files that become outputs. Name these
  // files by PredictItem::index, because they are moved later.
  std::filesystem::path scratch;
  at::Device device = at::kCPU;
  at::ScalarType compute_dtype = at::kFloat;
  // In the user's order. Empty unless PredictInput::averages.
  std::vector<FurtherRun> also{};

  // All models whose outputs have equal weight: `first`, which came with this context, and those of
  // `also`.
  std::vector<Model*> models(Model& first) const;
};

// An output that is made of all items. It has a temporary name until all items are done.
class JointOutput {
 public:
  virtual ~JointOutput() = default;
  virtual void write(std::string_view bytes) = 0;  // throws Error if the disk is full
  // For writers that write a file themselves: they may write this file instead of calling `write`.
  virtual const std::filesystem::path& path() const = 0;
};

class JointOutputs {
 public:
  virtual ~JointOutputs() = default;
  // name: a path below the folder of outputs, one of PredictInput::joint_outputs. The result exists
  // as long as this object.
  virtual JointOutput& open(const std::string& name) = 0;
  // The items that outputs are made of, in input order, including those that will be skipped.
  virtual const std::vector<PredictItem>& items() const = 0;
  virtual const nlohmann::json& extra() const = 0;  // ItemContext::extra
};

// Receives the results of the items in input order, on rank 0, on a thread of its own.
class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  // bytes: ItemOutput::bytes.
  virtual void add(const PredictItem& item, std::string_view bytes) = 0;
  virtual void skip(const PredictItem& item, const std::string& reason) {}
  virtual void finish() = 0;  // after the last item
};

}  // namespace lockstep
