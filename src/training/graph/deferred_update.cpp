#include "training/graph/deferred_update.h"

#include <optional>

namespace lockstep {

// The update of a sparse parameter. It runs after the operation that reads rows of the parameter.
class DeferredUpdate::SparseUpdate : public DeferredSparseUpdate {
 public:
  SparseUpdate(DeferredUpdate& all, std::size_t group)
      : gradients_(all.gradients_),
        optimizer_(all.optimizer_),
        side_(all.side_),
        side_of_sparse_(all.side_of_sparse_),
        parameter_(all.plan().sparse_parameter(group)),
        group_(group) {
    buffer().set_deferred_update(this);
  }
  ~SparseUpdate() override {
    if (buffer().deferred_update() == this) buffer().set_deferred_update(nullptr);
  }
  SparseUpdate(const SparseUpdate&) = delete;
  SparseUpdate& operator=(const SparseUpdate&) = delete;

  GradientBuffer& buffer() const { return gradients_[parameter_]; }

  std::optional<DeferredRows> begin_read(bool computes) override {
    if (number_ == 0 && computes)
      if (auto rows = optimizer_.deferred_rows(group_)) return rows;
    enqueue();
    wait();
    return std::nullopt;
  }
  void end_read() override { enqueue(); }

  void enqueue() {
    if (number_ > 0) return;
    number_ = side_.run({}, [this] {
      side_of_sparse_.run({}, [this] {
        optimizer_.update_group(group_);
        gradients_.zero_group(group_);
      });
    });
  }
  void wait() const {
    side_.wait(number_);
    side_of_sparse_.wait_for_all();
  }

 private:
  GradientBuffers& gradients_;
  Optimizer& optimizer_;
  SideWork &side_, &side_of_sparse_;
  std::size_t parameter_, group_;
  std::int64_t number_ = 0;  // number of the side work that starts the update; 0 = not enqueued yet
};

DeferredUpdate::DeferredUpdate(GradientBuffers& gradients, Optimizer& optimizer, SideWork& side,
                               SideWork& side_of_sparse)
    : gradients_(gradients), optimizer_(optimizer), side_(side), side_of_sparse_(side_of_sparse) {
  for (std::size_t group = 0; group < plan().block_groups; ++group)
    numbers_.push_back(side_.run({}, [this, group] {
      if (group == 0) optimizer_.begin_weights();
      optimizer_.update_group(group);
      gradients_.zero_group(group);
    }));
  for (std::size_t group = plan().block_groups; group < plan().groups; ++group)
    sparse_.push_back(std::make_shared<SparseUpdate>(*this, group));
  side_.wait(numbers_[0]);
}

DeferredUpdate::~DeferredUpdate() = default;

void DeferredUpdate::wait_for(std::int64_t block) {
  side_.wait(numbers_[plan().group_of_block(block)]);
}

// Enqueues all updates that are still missing, even if the forward pass did not read these
// parameters.
void DeferredUpdate::end_forward() {
  for (const auto& one : sparse_) {
    one->enqueue();
    one->buffer().set_deferred_update(nullptr);
    one->buffer().set_reader([one] { one->wait(); });
  }
  side_.wait(numbers_.back());
}

}  // namespace lockstep
