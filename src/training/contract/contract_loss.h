// The part of the contract check of a recipe that concerns its loss.
#pragma once

#include "training/contract/contract_check.h"

#include <functional>

namespace lockstep {

// Adds its findings to the report. All ranks call it together. drew: whether torch's own random
// numbers have been drawn since the check began.
void check_loss(const ContractSetup& setup, const std::function<bool()>& drew,
                ContractReport& report);

// A row of a data set: a sample, or one of its parts.
struct ContractRow {
  std::int64_t sample = 0, part = 0;
  bool operator==(const ContractRow&) const = default;
};

// Makes a batch of rows of a data set, on the host. With `padding`, each row comes again as a
// padding row. A row that comes twice is read in the same way both times.
Batch contract_batch(const Dataset& dataset, const std::vector<ContractRow>& rows, bool padding,
                     std::uint64_t seed, bool training);

// Returns this batch on the device.
Batch on_device(const Batch& host, Backend& backend);

}  // namespace lockstep
