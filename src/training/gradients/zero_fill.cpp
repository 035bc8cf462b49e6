#include "training/gradients/zero_fill.h"

#include "training/parameters/parameter_ranges.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace lockstep {

ZeroFill::ZeroFill(const ParameterStorage& storage,
                   const std::vector<std::shared_ptr<GradientBuffer>>& buffers)
    : storage_(storage), buffers_(buffers) {}

bool ZeroFill::prepare(bool may_prepare) {
  const bool first_step = overwritten_.empty();
  if (!storage_.low_precision() || (first_step && !may_prepare)) return false;
  if (first_step) {
    overwritten_.assign(buffers_.size(), false);
    return false;
  }
  if (may_prepare) choose();
  return !tables_.empty();
}

// The last step showed which can be overwritten.
void ZeroFill::choose() {
  std::vector<bool> overwritten;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    overwritten.push_back(storage_.places()[i].handles.size() == 1 && !buffers_[i]->needs_zeros());
  if (!tables_.empty() && overwritten == overwritten_) return;
  overwritten_ = std::move(overwritten);
  tables_.push_back(table_of([&](std::size_t i) { return !overwritten_[i]; }));
}

// The ranges of the parameters that are wanted.
template <class Wanted>
std::unique_ptr<ZeroRanges> ZeroFill::table_of(const Wanted& wanted) const {
  std::vector<std::size_t> all(buffers_.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<ZeroRange> ranges;
  for (const auto& [begin, end] : ranges_of(storage_, std::move(all), wanted))
    ranges.push_back({begin, end});
  return std::make_unique<ZeroRanges>(std::move(ranges), storage_.master().device());
}

void ZeroFill::cut(const std::vector<std::size_t>& part_of, bool all) {
  if (storage_.low_precision() && !overwritten_.empty()) choose();
  fills_all_ = all || !storage_.low_precision() || tables_.empty();
  std::move(tables_of_parts_.begin(), tables_of_parts_.end(), std::back_inserter(earlier_));
  tables_of_parts_.clear();
  const std::size_t parts = *std::max_element(part_of.begin(), part_of.end()) + 1;
  for (std::size_t part = 0; part < parts; ++part)
    tables_of_parts_.push_back(table_of(
        [&](std::size_t i) { return part_of[i] == part && (fills_all_ || !overwritten_[i]); }));
}

}  // namespace lockstep
