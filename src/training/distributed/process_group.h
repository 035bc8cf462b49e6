// Connects the ranks of a run, and offers collectives among them on top of c10d.
#pragma once

#include "backends/backend.h"
#include "runtime/launch/watch/peer_watch.h"
#include "runtime/launch/world/world.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep {

// Thrown if a collective fails, or if the wait for another rank's message fails. Another rank may
// be the cause.
class CollectiveFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A collective that is in progress.
class Pending {
 public:
  virtual ~Pending() = default;
  // On CPUs, blocks until the collective is done. On GPUs, the current stream waits, and the host
  // does not. Throws CollectiveFailed if the collective fails.
  virtual void wait() = 0;
};

// The longest times that a rank waits for other ranks, in seconds.
struct RankLimits {
  double start_s = 600;     // until all ranks have met, and until each connection is made
  double collective_s = 0;  // in a collective or for a message of another rank; 0: no limit
  double end_s = 60;        // in `shutdown`, until the other ranks have left
};

// All ranks call the same collectives in the same order. With one rank, nothing is sent. The object
// is not thread-safe, with one exception: a thread may wait for a collective while another thread
// starts one.
class ProcessGroup {
 public:
  // Meets the other ranks (rendezvous.h) and connects to them. If `end` is not empty, the ranks
  // then watch each other (PeerWatch). If another rank fails, vanishes or hangs, the watch calls
  // `end` on its own thread, whatever this rank is doing. `end` ends this process. By default
  // collectives have no time limit, because the watch can tell which rank is slow. Throws Error if
  // the ranks do not meet, and CollectiveFailed if the connections fail.
  ProcessGroup(const World& world, Backend& backend, const RankLimits& limits = {},
               PeerWatch::End end = {});
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  PeerWatch* peers() const;  // null if the ranks do not watch each other
  int rank() const;
  int size() const;

  // Sums `tensor` over the ranks, in place. tensor: contiguous, on the backend's device.
  std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor);
  // Sums `tensor` over the ranks, in place. tensor: contiguous, on the host, even if the ranks
  // compute on GPUs. It is meant for values that the host needs for a decision. `wait` blocks until
  // the sum is done. This sum and work on the device do not wait for each other.
  std::unique_ptr<Pending> all_reduce_on_host(const at::Tensor& tensor);
  // Does the same as all_reduce, but over separate connections, which the first call makes. It is
  // meant for collectives inside forward and backward passes. The order of these collectives
  // relative to the step's other collectives is not fixed. All ranks call all_reduce_apart in the
  // same order.
  std::unique_ptr<Pending> all_reduce_apart(const at::Tensor& tensor);
  // Cuts the tensor into one equal shard per rank and sums the shards over the ranks, in place.
  // Afterwards rank r has the sum of shard r. The other shards of its tensor hold undefined values.
  std::unique_ptr<Pending> reduce_scatter(const at::Tensor& tensor);
  // Cuts the tensor into one equal shard per rank. All ranks get shard r from rank r, in place.
  std::unique_ptr<Pending> gather_shards(const at::Tensor& tensor);
  // Does the same, but the shards may have different sizes. sizes: the number of elements of each
  // rank's shard.
  std::unique_ptr<Pending> gather_shards(const at::Tensor& tensor,
                                         const std::vector<std::int64_t>& sizes);
  // All-to-all. Sends give[r] elements of `given` to rank r, and receives take[r] elements from
  // rank r in `taken`. The elements are in rank order. Both tensors have one dimension, and a size
  // may be 0. take[r] on this rank must equal give[this rank] on rank r.
  std::unique_ptr<Pending> exchange(const at::Tensor& taken, const at::Tensor& given,
                                    const std::vector<std::int64_t>& take,
                                    const std::vector<std::int64_t>& give);
  // Sends the tensor of rank `root` to all ranks, in place. tensor: without gaps in memory, with
  // the same layout on every rank.
  void broadcast(const at::Tensor& tensor, int root);
  // Gathers the tensor [n, ...] of every rank. Returns [ranks, n, ...]. All ranks must pass the
  // same shape.
  at::Tensor all_gather(const at::Tensor& tensor);
  // Returns whether `own` is true on all ranks. The function uses only the store, so it needs no
  // device memory.
  bool all_agree(bool own);
  void barrier();
  // Sends a text from rank 0 to all ranks through the store. Returns rank 0's text. A key may be
  // used again.
  std::string share(const std::string& key, const std::string& text);
  // Sends the text of every rank to rank 0 through the store. Rank 0 gets the texts in rank order,
  // and other ranks get an empty list.
  std::vector<std::string> collect(const std::string& key, const std::string& text);
  // Returns 0 at the first call with this key, and one more at each further call on any rank. The
  // counter is in the store, so each number is returned only once.
  std::int64_t next_number(const std::string& key);
  // Ends the group regularly. All ranks meet, then the communicators are destroyed. Rank 0 leaves
  // the store last, but waits for the other ranks at most RankLimits::end_s. Do not call it from
  // destructors of static objects.
  void shutdown();
  // Destroys the communicators without meeting the other ranks. Call it when a run has failed.
  void abort();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
