#include "training/update/deferred_update.h"

#include "planning/batch/buckets.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <optional>

namespace lockstep {

// Hides the weights of some parts: until they are shown, or until the end, the model computes with
// other values. Versions of the parameters do not change.
class DeferredUpdate::HiddenWeights {
 public:
  HiddenWeights(ParameterStorage& storage, const std::vector<std::size_t>& part_of)
      : storage_(storage),
        part_of_(part_of),
        flat_(storage.weights().variable_data()),
        kept_(storage.low_precision() ? storage.master() : flat_.clone()) {
    for (std::size_t i = 0; i < part_of.size(); ++i)
      if (part_of[i] > 0) hide(i);
  }
  ~HiddenWeights() {
    for (std::size_t i = 0; i < part_of_.size(); ++i)
      if (part_of_[i] > shown_) show_parameter(i);
  }
  HiddenWeights(const HiddenWeights&) = delete;
  HiddenWeights& operator=(const HiddenWeights&) = delete;

  // The other values are about as large. An operation that reads them gives other results, but a
  // loss that asserts what its input is (binary_cross_entropy, multinomial) still runs. On a GPU
  // its assertion would end the process.
  void hide(std::size_t i) {
    const at::Tensor kept = range(kept_, i);
    range(flat_, i).copy_(kept).neg_().add_(kept.abs().mean()).add_(0.01);
  }
  void show_parameter(std::size_t i) { range(flat_, i).copy_(range(kept_, i)); }
  // Shows all parts up to this one.
  void show(std::size_t part) {
    for (; shown_ < part; ++shown_)
      for (std::size_t i = 0; i < part_of_.size(); ++i)
        if (part_of_[i] == shown_ + 1) show_parameter(i);
  }

 private:
  at::Tensor range(const at::Tensor& flat, std::size_t i) const {
    return flat.narrow(0, storage_.places()[i].begin, storage_.places()[i].elements);
  }

  ParameterStorage& storage_;
  const std::vector<std::size_t>& part_of_;
  at::Tensor flat_, kept_;  // of low precision the master weights are a copy
  std::size_t shown_ = 0;
};

// One that an operation reads rows of, and that is updated behind it: its own part.
class DeferredUpdate::Table : public OwedUpdate {
 public:
  Table(DeferredUpdate& update, std::size_t parameter, std::size_t part)
      : update_(update), parameter_(parameter), part_(part) {}

  // In a trial, nothing else but the operation sees it.
  std::optional<OwedRows> begin_read(bool computes) override {
    if (update_.hidden_ != nullptr) {
      update_.hidden_->show_parameter(parameter_);
      ++reads_;
      computes_ = computes || update_.storage_.master().is_cpu();
      return std::nullopt;
    }
    if (number_ == 0 && computes)
      if (auto rows = update_.optimizer_.owed_rows(part_)) return rows;
    enqueue();
    wait();
    return std::nullopt;
  }
  void end_read() override {
    if (update_.hidden_ != nullptr)
      update_.hidden_->hide(parameter_);
    else
      enqueue();
  }

  // The outcome of the last trial.
  bool reads_well() const { return reads_ == 1 && computes_; }

  // For a trial or a capture.
  void begin() {
    number_ = 0;
    if (update_.hidden_ != nullptr) reads_ = 0;
    update_.gradients_[parameter_].set_deferred_update(this);
  }
  void end() { update_.gradients_[parameter_].set_deferred_update(nullptr); }
  // A forward pass is over, whether it read the table or not.
  void finish() {
    enqueue();
    end();
    update_.gradients_[parameter_].set_reader([this] { wait(); });
  }
  void enqueue() {
    if (number_ > 0) return;
    number_ = update_.side_->run({}, [update = &update_, part = part_] {
      update->side_of_tables_->run({}, [update, part] {
        update->optimizer_.update_part(part);
        update->after_part_(part);
      });
    });
  }
  void wait() const {
    update_.side_->wait(number_);
    update_.side_of_tables_->wait_for_all();
  }

 private:
  DeferredUpdate& update_;
  std::size_t parameter_, part_;
  std::int64_t number_ = 0;  // of the side work that begins it; 0: it is still to come
  int reads_ = 0;
  bool computes_ = false;
};

DeferredUpdate::~DeferredUpdate() = default;

DeferredUpdate::DeferredUpdate(GradientBuffers& gradients, Optimizer& optimizer, bool may)
    : storage_(gradients.storage()),
      gradients_(gradients),
      optimizer_(optimizer),
      may_(may && storage_.sharing() == nullptr && optimizer.average() == nullptr) {}

std::vector<std::int64_t> DeferredUpdate::uses() const {
  std::vector<std::int64_t> uses;
  for (std::size_t i = 0; i < storage_.parameters().size(); ++i) {
    uses.push_back(0);
    for (const at::Tensor& handle : storage_.places()[i].handles)
      uses.back() += torch::autograd::impl::try_get_grad_accumulator(handle).use_count();
  }
  return uses;
}

void DeferredUpdate::begin_forward() {
  if (!may_ || !uses_.empty()) return;
  uses_ = uses();
  is_early_.assign(uses_.size(), false);
}

void DeferredUpdate::see(std::int64_t block, const std::vector<at::Tensor>& parameters) {
  if (!may_ || !part_of_.empty() || parameters_.contains(block)) return;
  order_.push_back(block);
  const std::vector<std::int64_t> now = uses();
  std::vector<std::size_t>& own = parameters_[block];
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] > uses_[i]) is_early_[i] = true;
    for (const at::Tensor& handle : storage_.places()[i].handles)
      for (const at::Tensor& parameter : parameters)
        if (handle.is_same(parameter)) own.push_back(i);
  }
}

bool DeferredUpdate::cut() {
  if (!may_ || order_.empty()) return false;
  if (!part_of_.empty()) return true;
  for (const bool early : is_early_) part_of_.push_back(early ? 0 : order_.size());
  for (std::size_t part = order_.size(); part > 0; --part)  // the first block that uses it counts
    for (const std::size_t i : parameters_.at(order_[part - 1])) part_of_[i] = part;
  parts_of_blocks_ = *std::max_element(part_of_.begin(), part_of_.end()) + 1;
  cut_tables();
  optimizer_.cut(part_of_);
  return true;
}

// Small ones are not worth a part.
void DeferredUpdate::cut_tables() {
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    if (part_of_[i] != 0 || !gradients_[i].is_sparse() ||
        storage_.places()[i].elements * 4 < smallest_bucket_bytes)
      continue;
    part_of_[i] = parts_of_blocks_ + tables_.size();
    tables_.push_back(std::make_unique<Table>(*this, i, part_of_[i]));
  }
}

bool DeferredUpdate::cut_tables_early() {
  if (tables_.empty()) return false;
  for (std::size_t& part : part_of_)
    if (part >= parts_of_blocks_) part = 0;
  tables_.clear();
  optimizer_.cut(part_of_);
  return true;
}

bool DeferredUpdate::reads_tables_well() const {
  return std::all_of(tables_.begin(), tables_.end(),
                     [](const auto& table) { return table->reads_well(); });
}

bool DeferredUpdate::cut_early() {
  std::vector<bool> is_in_a_block(part_of_.size());
  for (const auto& [block, parameters] : parameters_)
    for (const std::size_t i : parameters) is_in_a_block[i] = true;
  bool changes = false;
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    if (is_in_a_block[i] || part_of_[i] == 0) continue;
    part_of_[i] = 0;
    changes = true;
  }
  tables_.clear();
  parts_of_blocks_ = *std::max_element(part_of_.begin(), part_of_.end()) + 1;
  if (changes) optimizer_.cut(part_of_);
  return changes;
}

std::size_t DeferredUpdate::part_of_block(std::int64_t block) const {
  const auto found = std::find(order_.begin(), order_.end(), block);
  const std::size_t part = static_cast<std::size_t>(found - order_.begin()) + 1;
  return found == order_.end() ? parts_of_blocks_ - 1 : std::min(part, parts_of_blocks_ - 1);
}

// While it lives, tables are hidden from all but the operations that ask for them.
class DeferredUpdate::Trial {
 public:
  Trial(DeferredUpdate& update, HiddenWeights& hidden) : update_(update) {
    update_.hidden_ = &hidden;
    for (const auto& table : update_.tables_) table->begin();
  }
  ~Trial() {
    for (const auto& table : update_.tables_) table->end();
    update_.hidden_ = nullptr;
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  DeferredUpdate& update_;
};

bool DeferredUpdate::waits_for_blocks(
    const std::function<at::Tensor(const BeforeBlock&)>& forward) {
  const at::Tensor expected = forward([](std::int64_t) {});
  at::Tensor found;
  {
    HiddenWeights hidden(storage_, part_of_);
    const Trial trial(*this, hidden);
    found = forward([&](std::int64_t block) { hidden.show(part_of_block(block)); });
  }
  const bool waits = found.equal(expected);
  serves_ = serves_ || waits;
  return waits;
}

void DeferredUpdate::give_up() {
  if (serves_) return;
  may_ = false;
  optimizer_.cut(std::vector<std::size_t>(part_of_.size(), 0));
  part_of_.clear();
  tables_.clear();
}

void DeferredUpdate::enqueue(SideWork& side, SideWork& side_of_tables,
                             const std::function<void(std::size_t)>& after_part) {
  side_ = &side;
  side_of_tables_ = &side_of_tables;
  after_part_ = after_part;
  numbers_.clear();
  for (std::size_t part = 0; part < parts_of_blocks_; ++part)
    numbers_.push_back(side.run({}, [this, part] {
      if (part == 0) optimizer_.begin_weights();
      optimizer_.update_part(part);
      after_part_(part);
    }));
  for (const auto& table : tables_) table->begin();
  side.wait(numbers_[0]);
}

void DeferredUpdate::wait_for(std::int64_t block) { side_->wait(numbers_[part_of_block(block)]); }

void DeferredUpdate::wait_for_blocks() {
  for (const auto& table : tables_) table->finish();
  side_->wait(numbers_.back());
}

void DeferredUpdate::end_recording() {
  for (const auto& table : tables_) table->end();
  side_ = side_of_tables_ = nullptr;
}

void DeferredUpdate::before_replay(bool begins) {
  if (!begins) return settle();
  if (!owed_) optimizer_.forget_weights();
  owed_ = true;
}

void DeferredUpdate::settle() {
  if (!owed_) return;
  optimizer_.update_weights();
  owed_ = false;
}

}  // namespace lockstep
