// The ranks of a run as one object. It hides the collectives of c10d from its callers.
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

// A collective failed, or a wait for another rank's message failed. Another rank may be the cause.
class CollectiveFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A collective that is in progress.
class Pending {
 public:
  virtual ~Pending() = default;
  // CPU: blocks until done. GPU: the current stream waits, the host does not. Throws
  // CollectiveFailed.
  virtual void wait() = 0;
};

// How long a rank waits for others, in seconds.
struct RankLimits {
  double start_s = 600;     // until all ranks have met, and for each connection
  double collective_s = 0;  // in a collective or for a message of another rank; 0: no limit
  double end_s = 60;        // at the end, when nothing more is computed or written
};

// All ranks call the same collectives in the same order. With one rank nothing is sent. Not
// thread-safe, except that one thread may wait for a collective while another thread starts one.
class ProcessGroup {
 public:
  // Meets the other ranks (rendezvous.h). Afterwards the ranks watch each other. If another rank
  // fails, vanishes or hangs, `end` ends this process, whatever this process is doing. If `end` is
  // empty, the ranks do not watch each other. The watch decides whether a rank takes too long,
  // because it knows which rank is slow and what that rank does. A collective by itself has no time
  // limit. Throws Error.
  ProcessGroup(const World& world, Backend& backend, const RankLimits& limits = {},
               PeerWatch::End end = {});
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  PeerWatch* peers() const;  // null: the ranks do not watch each other
  int rank() const;
  int size() const;

  // Sums over the ranks, in place. tensor: contiguous, on the backend's device.
  std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor);
  // Sums over the ranks, in place. tensor: contiguous, on the host, also if the device is a GPU.
  // Meant for values by which the host decides. `wait` blocks until the sum is done. Work on the
  // device does not wait for this sum, and the sum does not wait for the device.
  std::unique_ptr<Pending> all_reduce_on_host(const at::Tensor& tensor);
  // As all_reduce, but over separate connections, which the first call makes. It is meant for
  // collectives inside forward and backward, whose order among the other collectives of the step is
  // not fixed. All ranks make these calls in the same order.
  std::unique_ptr<Pending> all_reduce_apart(const at::Tensor& tensor);
  // Sums `size` equal shards over the ranks, in place. Afterwards rank r has the sum in its shard
  // r. The other shards of its tensor are then undefined.
  std::unique_ptr<Pending> reduce_scatter(const at::Tensor& tensor);
  // Gathers `size` equal shards in place: all ranks get shard r from rank r.
  std::unique_ptr<Pending> gather_shards(const at::Tensor& tensor);
  // The same for shards of these sizes, one per rank, one after the other.
  std::unique_ptr<Pending> gather_shards(const at::Tensor& tensor,
                                         const std::vector<std::int64_t>& sizes);
  // All-to-all. `given` consists of one shard per rank, of give[r] elements, and rank r gets shard
  // r. `taken` receives one shard per rank, of take[r] elements. Both tensors are flat, and a size
  // may be 0. take[r] on this rank equals give[this rank] on rank r.
  std::unique_ptr<Pending> exchange(const at::Tensor& taken, const at::Tensor& given,
                                    const std::vector<std::int64_t>& take,
                                    const std::vector<std::int64_t>& give);
  void broadcast(const at::Tensor& tensor, int root);  // dense; the same layout on every rank
  // Gathers [n, ...] of every rank to [size, n, ...]. All ranks pass the same shape.
  at::Tensor all_gather(const at::Tensor& tensor);
  // Returns whether `own` is true on all ranks. Uses the store, and neither the device nor its
  // memory.
  bool all_agree(bool own);
  void barrier();
  // Sends a text from rank 0 to all ranks, through the store, without a device. A key may be used
  // again.
  std::string share(const std::string& key, const std::string& text);
  // Returns every rank's text on rank 0, in rank order, through the store. Other ranks get nothing.
  std::vector<std::string> collect(const std::string& key, const std::string& text);
  // Returns 0, 1, 2, … through the store. Each number goes to one caller, on any rank.
  std::int64_t next_number(const std::string& key);
  // The regular end: all ranks meet, then the communicators are destroyed. Rank 0 leaves the store
  // last. It waits for the others, but at most RankLimits::end_s. Call it explicitly, never from
  // destructors of static objects.
  void shutdown();
  // For a failed run: destroys the communicators without meeting the other ranks.
  void abort();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
