// What each rank holds a part of, brought together on the hosts, in pieces.
#pragma once

#include "training/distributed/process_group.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// On all ranks: `count` numbers of 8 bytes, of which this rank holds those from `begin` on; each is
// held by one rank. own: i64 or f64 [any], on the CPU. Bit for bit, through `piece_bytes` at once
// beside the result.
at::Tensor gather_on_host(const at::Tensor& own, std::int64_t begin, std::int64_t count,
                          ProcessGroup& group, std::int64_t piece_bytes = 16 << 20);

// On rank 0: every rank's bytes, in rank order; nothing elsewhere, where `piece_bytes` is all that
// it takes.
std::vector<std::string> collect_on_host(const std::string& own, ProcessGroup& group,
                                         std::int64_t piece_bytes = 16 << 20);

}  // namespace lockstep
