// Gathers values of all ranks in host memory, at most `piece_bytes` in each collective.
#pragma once

#include "training/distributed/process_group.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Gathers `count` numbers on all ranks. Each number must belong to exactly one rank. The result is
// bitwise equal to the ranks' numbers. Needs `piece_bytes` of memory in addition to the result.
//   own: the numbers of this rank, i64 or f64 [any], on the CPU and contiguous
//   begin: the place of the first of these numbers in the result
at::Tensor gather_on_host(const at::Tensor& own, std::int64_t begin, std::int64_t count,
                          ProcessGroup& group, std::int64_t piece_bytes = 16 << 20);

// Returns the bytes of every rank, in rank order, on rank 0. Other ranks get an empty list, and
// need only `piece_bytes` of memory.
std::vector<std::string> collect_on_host(const std::string& own, ProcessGroup& group,
                                         std::int64_t piece_bytes = 16 << 20);

}  // namespace lockstep
