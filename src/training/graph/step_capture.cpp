#include "training/graph/step_capture.h"

#include "training/gradients/sparse_all_gather.h"

#include <exception>
#include <utility>

namespace lockstep {

StepCapture::StepCapture(GradientBuffers& gradients, Optimizer& optimizer, Reducer& reducer,
                         Backend& backend, std::shared_ptr<const StepPlan> plan)
    : gradients_(gradients),
      optimizer_(optimizer),
      reducer_(reducer),
      eager_(gradients.step_plan()),
      side_(backend.side_work()),
      second_side_(backend.side_work(/*second=*/true)) {
  gradients_.use(std::move(plan));
  reducer_.rows().begin();
  // In fp32, autograd itself adds to the gradients, so nothing can be computed on a side stream.
  if (gradients_.storage().low_precision()) gradients_.make_beside(side_.get());
}

StepCapture::~StepCapture() {
  // After a failed capture too, the stream joins the side streams if the device still allows it.
  try {
    for (SideWork* const side : {side_.get(), second_side_.get()})
      if (side != nullptr) side->wait_for_all();
  } catch (const std::exception&) {
  }
  gradients_.make_beside(nullptr);
  reducer_.rows().end();
  update_.reset();
  gradients_.use(std::move(eager_));
}

void StepCapture::begin_step() {
  if (gradients_.plan().deferred) update_.emplace(gradients_, optimizer_, *side_, *second_side_);
}

}  // namespace lockstep
