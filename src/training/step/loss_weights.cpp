#include "training/step/loss_weights.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <cmath>
#include <string>

namespace lockstep {

void check_loss_weights(const std::vector<double>& weights, const std::vector<std::string>& terms) {
  if (weights.size() != terms.size())
    throw Error(cat("loss_weights must give a weight for each of the loss's terms (",
                    join(terms, ", "), "), but gave ", weights.size()),
                "return as many as Recipe::terms names, in its order");
  for (std::size_t term = 0; term < terms.size(); ++term)
    if (!std::isfinite(weights[term]) || weights[term] < 0)
      throw Error(
          cat("the weight of the term ", terms[term],
              " of the loss must be 0 or more and known from the batch, but is ", weights[term]),
          "divide by a number that the batch knows before the model sees it, as detectors "
          "do with the number of anchors and regions that they sample per image");
}

std::vector<double> checked_loss_weights(const Recipe& recipe, const Batch& batch) {
  std::vector<double> weights = recipe.loss_weights(batch);
  check_loss_weights(weights, recipe.terms());
  return weights;
}

}  // namespace lockstep
