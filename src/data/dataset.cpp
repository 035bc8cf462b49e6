// The default way to make fields of rows.
#include "data/dataset.h"

#include "base/check.h"

#include <ATen/ops/stack.h>

namespace lockstep {

BatchDataset::~BatchDataset() = default;  // here, so that plugins share one type

std::vector<at::Tensor> Dataset::collate(const std::vector<std::vector<at::Tensor>>& rows) const {
  LOCKSTEP_CHECK(!rows.empty());
  std::vector<at::Tensor> fields;
  std::vector<at::Tensor> column(rows.size());
  for (std::size_t field = 0; field < rows[0].size(); ++field) {
    for (std::size_t row = 0; row < rows.size(); ++row) column[row] = rows[row].at(field);
    fields.push_back(at::stack(column));
  }
  return fields;
}

}  // namespace lockstep
