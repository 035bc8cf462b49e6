// The defaults of a recipe, for functions that it does not override.
#include "training/recipe/recipe.h"

#include "core/base/text/text.h"

namespace lockstep {

at::Tensor Recipe::evaluate(Model& /*model*/, const Batch& /*batch*/, StepContext& /*context*/) {
  throw Error("the recipe can evaluate nothing",
              "it must override evaluate, or evaluate_items where records differ in length");
}

std::vector<at::Tensor> Recipe::evaluate_items(Model& model, const Batch& batch,
                                               StepContext& context) {
  const at::Tensor records = evaluate(model, batch, context);
  const bool fits = records.defined() && records.dim() == 2 && records.size(0) == batch.size() &&
                    records.size(1) > 0;
  if (!fits)
    throw WrongRecords(
        cat("evaluate must return one record per row: [", batch.size(), ", R], but returned ",
            records.defined() ? cat(records.sizes()) : std::string("no tensor")),
        "R is the number of numbers that metrics needs of a sample");
  return records.to(at::kDouble).unbind(0);
}

ItemTable Recipe::items(const Records& /*records*/, EvaluationOutput& /*output*/) const {
  return {};
}

std::vector<ItemOutput> Recipe::predict_items(Model& model, const std::vector<PredictItem>& items,
                                              const ItemContext& context) {
  std::vector<ItemOutput> outputs;
  for (const PredictItem& item : items) outputs.push_back(predict_item(model, item, context));
  return outputs;
}

ItemOutput Recipe::predict_item(Model& /*model*/, const PredictItem& /*item*/,
                                const ItemContext& /*context*/) {
  throw Error("this recipe has nothing to predict", "see lockstep evaluate");
}

ItemOutput Recipe::predict_piece(Model& /*model*/, const PredictItem& /*item*/, ItemPiece /*piece*/,
                                 const ItemContext& /*context*/) {
  throw Error("this recipe makes no pieces of items", "leave PredictItem::pieces at 1");
}

ItemOutput Recipe::join_pieces(const PredictItem& /*item*/,
                               const std::vector<ItemOutput>& /*pieces*/,
                               const ItemContext& /*context*/) {
  throw Error("this recipe joins no pieces of items", "leave PredictItem::pieces at 1");
}

at::Tensor Recipe::evaluate_piece(Model& /*model*/, const Batch& /*sample*/, ItemPiece /*piece*/,
                                  StepContext& /*context*/) {
  throw Error("this recipe evaluates no pieces of samples", "let evaluates_pieces be false");
}

at::Tensor Recipe::join_evaluated(const Batch& /*sample*/,
                                  const std::vector<at::Tensor>& /*pieces*/,
                                  StepContext& /*context*/) {
  throw Error("this recipe joins no pieces of samples", "let evaluates_pieces be false");
}

void Recipe::predict(Model& /*model*/, const PredictRequest& /*request*/) {
  throw Error("this recipe has nothing to predict", "see lockstep evaluate");
}

}  // namespace lockstep
