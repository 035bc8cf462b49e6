// The loss's half of the check of a recipe's contract.
#pragma once

#include "training/contract/contract_check.h"

#include <functional>

namespace lockstep {

// Adds to the report. All ranks together.
// drew: whether torch's own random numbers have been drawn since the check began.
void check_loss(const ContractSetup& setup, const std::function<bool()>& drew,
                ContractReport& report);

// A row of a data set: a sample, or one of its parts.
struct ContractRow {
  std::int64_t sample = 0, part = 0;
  bool operator==(const ContractRow&) const = default;
};

// Rows of a data set as a batch on the host, and with `padding` each of them again as a padding
// row. A row that comes twice is read alike both times.
Batch contract_batch(const Dataset& dataset, const std::vector<ContractRow>& rows, bool padding,
                     std::uint64_t seed, bool training);

// The same on the device.
Batch on_device(const Batch& host, Backend& backend);

}  // namespace lockstep
