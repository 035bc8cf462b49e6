// Gathers on the hosts, in pieces, values that each rank holds a shard of.
#pragma once

#include "training/distributed/process_group.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Gathers `count` numbers of 8 bytes on all ranks. This rank holds those from `begin` on, and each
// number is held by one rank. own: i64 or f64 [any], on the CPU. The result is bit for bit the
// same. It takes `piece_bytes` at once beside the result.
at::Tensor gather_on_host(const at::Tensor& own, std::int64_t begin, std::int64_t count,
                          ProcessGroup& group, std::int64_t piece_bytes = 16 << 20);

// On rank 0: every rank's bytes, in rank order; nothing elsewhere, where `piece_bytes` is all that
// it takes.
std::vector<std::string> collect_on_host(const std::string& own, ProcessGroup& group,
                                         std::int64_t piece_bytes = 16 << 20);

}  // namespace lockstep
