// Gathers values from the shards of all ranks: on the hosts, at most `piece_bytes` at a time.
#pragma once

#include "training/distributed/process_group.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Gathers `count` numbers of 8 bytes on all ranks. This rank holds the numbers from `begin` on, and
// exactly one rank holds each number. own: i64 or f64 [any], on the CPU. The gathered numbers are
// bitwise those of the ranks. Needs `piece_bytes` of memory in addition to the result.
at::Tensor gather_on_host(const at::Tensor& own, std::int64_t begin, std::int64_t count,
                          ProcessGroup& group, std::int64_t piece_bytes = 16 << 20);

// On rank 0: returns every rank's bytes, in rank order. Other ranks get nothing, and need only
// `piece_bytes` of memory.
std::vector<std::string> collect_on_host(const std::string& own, ProcessGroup& group,
                                         std::int64_t piece_bytes = 16 << 20);

}  // namespace lockstep
