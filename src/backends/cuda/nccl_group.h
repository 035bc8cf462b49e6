// Makes c10d's NCCL backend. Only nccl_group.cpp includes the headers of NCCL's backend.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <string>

namespace lockstep {

// If size > 1, the ranks connect within this call, so that this call reports a network fault, and
// not the first step. If size is 1, the rank connects at its first collective. A collective that
// takes longer than `timeout` ends the process. Call shutdown() or abort() of the result before the
// store is destroyed. Otherwise the destructor of the result aborts and warns. Throws Error if the
// ranks cannot connect.
c10::intrusive_ptr<c10d::Backend> make_nccl_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                  int rank, int size, at::Device device,
                                                  std::chrono::milliseconds timeout);

std::string nccl_version();  // "2.28.9"

}  // namespace lockstep
