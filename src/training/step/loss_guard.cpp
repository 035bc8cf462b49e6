#include "training/step/loss_guard.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

LossGuard::LossGuard(GradientBuffers& gradients) : gradients_(gradients) {
  const ParameterStorage& storage = gradients.storage();
  for (std::size_t i = 0; i < storage.parameters().size(); ++i)
    for (const at::Tensor& handle : storage.places()[i].handles)
      versions_.push_back(handle._version());
  const FrozenParameters& frozen = storage.frozen();
  for (std::size_t i = 0; i < frozen.size(); ++i) versions_.push_back(frozen.tensor(i)._version());
  gradients_.refuse(true);
}

LossGuard::~LossGuard() { gradients_.refuse(false); }

void LossGuard::check_weights() const {
  const ParameterStorage& storage = gradients_.storage();
  std::size_t next = 0;
  for (std::size_t i = 0; i < storage.parameters().size(); ++i)
    for (const at::Tensor& handle : storage.places()[i].handles) {
      if (handle._version() == versions_[next++]) continue;
      throw Error(cat("the recipe's loss changed the weights ", storage.parameters()[i].name,
                      " itself, which the optimizer's update overwrites or adds to"),
                  "leave the weights to the optimizer; a model that is trained in turn with "
                  "another one, each by an optimizer of its own, is not supported");
    }
  const FrozenParameters& frozen = storage.frozen();
  for (std::size_t i = 0; i < frozen.size(); ++i)
    if (frozen.tensor(i)._version() != versions_[next++])
      throw Error(cat("the recipe's loss changed the frozen parameter ", frozen.name(i),
                      ", which ranks do not share, and which a skipped step leaves changed"),
                  "register it as a buffer");
}

}  // namespace lockstep
