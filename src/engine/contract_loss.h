// The loss's half of the check of a recipe's contract.
#pragma once

#include "engine/contract_check.h"

namespace lockstep {

// Adds to the report. All ranks together.
void check_loss(const ContractSetup& setup, ContractReport& report);

// Rows of a data set as a batch on the host: each of `samples` (indexes), and with `padding` each
// of them again as a padding row. A sample that comes twice is read alike both times.
Batch contract_batch(const Dataset& dataset, const std::vector<std::int64_t>& samples, bool padding,
                     std::uint64_t seed, bool training);

// The same on the device.
Batch on_device(const Batch& host, Backend& backend);

}  // namespace lockstep
