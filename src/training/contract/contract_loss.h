// Checks the loss of a recipe, as a part of the contract check (contract_check.h).
#pragma once

#include "training/contract/contract_check.h"

#include <functional>

namespace lockstep {

// Checks Recipe::loss and Recipe::loss_weights, and adds the findings to `report`. All ranks call
// it together. drew: returns whether random numbers of torch were drawn since the check began.
void check_loss(const ContractSetup& setup, const std::function<bool()>& drew,
                ContractReport& report);

// Names a row of a dataset: sample number `sample`, and row number `part` of that sample.
struct ContractRow {
  std::int64_t sample = 0, part = 0;
  bool operator==(const ContractRow&) const = default;
};

// Makes a batch of rows of a dataset, on the host. If `padding` is true, each row is repeated once
// as a padding row. Equal rows get the same random numbers, so their content is equal.
Batch contract_batch(const Dataset& dataset, const std::vector<ContractRow>& rows, bool padding,
                     std::uint64_t seed, bool training);

// Copies the batch to the device.
Batch on_device(const Batch& host, Backend& backend);

}  // namespace lockstep
