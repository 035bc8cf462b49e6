// The part of a recipe that serves `lockstep predict` with items: files in, files out.
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

// A file beside an item's own: an annotated picture, say.
struct ItemFile {
  std::string name;            // below the folder of outputs
  std::string bytes{};         // what it holds, unless `path` names a file of ItemContext::scratch,
  std::filesystem::path path;  // which is moved there
};

struct ItemOutput {
  // Held by the item's own file, where it has one (PredictItem::output), and given to the writer.
  std::string bytes{};
  std::vector<ItemFile> files{};
  // A file of ItemContext::scratch that becomes the item's own, in place of `bytes`: for what is
  // larger than memory. The writer gets no bytes then.
  std::filesystem::path path{};
  // A warning about the item, for people: it is predicted all the same. "": none.
  std::string warning{};
};

// One of the pieces in which several devices make an item. Which piece holds what is the recipe's
// affair; the output may not depend on how many there are.
struct ItemPiece {
  std::int64_t index = 0, count = 1;
};

// A further run whose outputs are to be averaged with those of the first (predict.also).
struct FurtherRun {
  std::string name;  // for people
  // A model of the same recipe, with that run's weights, in the mode and on the device of the
  // first. Lives as long as the context.
  Model* model = nullptr;
  nlohmann::json extra;  // as ItemContext::extra, of that run
};

// The surroundings that predicting an item may use.
struct ItemContext {
  nlohmann::json extra;  // the run's Prepared::extra, with that of Purpose::predict over it
  // A folder of this rank's on the disk of the outputs, for files that become outputs. Name them by
  // PredictItem::index: they are moved later.
  std::filesystem::path scratch;
  at::Device device = at::kCPU;
  at::ScalarType compute_dtype = at::kFloat;
  // In the user's order; none unless PredictInput::averages.
  std::vector<FurtherRun> also{};

  // All models whose outputs count alike: the one that came with this context, and those of `also`.
  std::vector<Model*> models(Model& first) const;
};

// An output that is made of all items. It has a temporary name until all items are done.
class JointOutput {
 public:
  virtual ~JointOutput() = default;
  virtual void write(std::string_view bytes) = 0;  // throws Error where the disk is full
  // For writers that want a file of their own accord: they may write it instead of calling `write`.
  virtual const std::filesystem::path& path() const = 0;
};

class JointOutputs {
 public:
  virtual ~JointOutputs() = default;
  // name: below the folder of outputs, one of PredictInput::joint_outputs. Lives as long as this.
  virtual JointOutput& open(const std::string& name) = 0;
  // The items that outputs are made of, in input order, including those that will be skipped.
  virtual const std::vector<PredictItem>& items() const = 0;
  virtual const nlohmann::json& extra() const = 0;  // ItemContext::extra
};

// Gets what became of the items, in input order, on rank 0, on a thread of its own.
class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  // bytes: ItemOutput::bytes.
  virtual void add(const PredictItem& item, std::string_view bytes) = 0;
  virtual void skip(const PredictItem& item, const std::string& reason) {}
  virtual void finish() = 0;  // after the last
};

}  // namespace lockstep
