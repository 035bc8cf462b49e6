// The ranks of a run as one object; all of c10d stays behind this file and its source.
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

// A collective, or a wait for another rank's word, that failed: that rank may be the cause.
class CollectiveFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A collective under way.
class Pending {
 public:
  virtual ~Pending() = default;
  // CPU: blocks until done. GPU: the current stream waits, the host does not. Throws
  // CollectiveFailed.
  virtual void wait() = 0;
};

// How long a rank waits for others, in seconds.
struct RankLimits {
  double start_s = 600;     // until all have met, and each time they connect
  double collective_s = 0;  // in a collective or for another's word; 0: without an end
  double end_s = 60;        // at the very end, once nothing more is to be computed or written
};

// All ranks call the same collectives in the same order. With one rank nothing is sent. Not
// thread-safe, except that one thread may wait while another issues.
class ProcessGroup {
 public:
  // Meets the other ranks, see rendezvous.h. end: from the moment they have met, they watch each
  // other, and it ends this process when another rank fails, vanishes or hangs, whatever this one
  // does meanwhile; empty: nobody watches. Whether a rank takes too long is for those who watch to
  // say, who know which one it is and what it does: a collective by itself has no limit. Throws
  // Error.
  ProcessGroup(const World& world, Backend& backend, const RankLimits& limits = {},
               PeerWatch::End end = {});
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  PeerWatch* peers() const;  // null where nobody watches
  int rank() const;
  int size() const;

  // In place, sum; tensor contiguous, on the backend's device.
  std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor);
  // In place, sum; tensor contiguous, on the host, whatever the device is: for what the host
  // decides by. `wait` blocks until done. No work on the device waits for it, nor does it for any.
  std::unique_ptr<Pending> all_reduce_on_host(const at::Tensor& tensor);
  // As all_reduce, over connections of their own, made by the first call: for collectives inside of
  // forward and backward, whose order among those of the step is not fixed. All ranks call these in
  // the same order.
  std::unique_ptr<Pending> all_reduce_apart(const at::Tensor& tensor);
  // In place, sum: of `size` equal shards, number r ends as the sum on rank r. There the others
  // hold anything afterwards.
  std::unique_ptr<Pending> reduce_scatter(const at::Tensor& tensor);
  // In place: of `size` equal shards, number r comes from rank r to all.
  std::unique_ptr<Pending> gather_shards(const at::Tensor& tensor);
  // The same of shards of these sizes, one per rank and side by side.
  std::unique_ptr<Pending> gather_shards(const at::Tensor& tensor,
                                         const std::vector<std::int64_t>& sizes);
  // All-to-all. `given` is cut into a shard per rank, of `give` elements, and rank r gets shard r.
  // `taken` is what came, a shard per rank, of `take` elements. Both flat; a size may be 0. take[r]
  // here is give[this rank] on rank r.
  std::unique_ptr<Pending> exchange(const at::Tensor& taken, const at::Tensor& given,
                                    const std::vector<std::int64_t>& take,
                                    const std::vector<std::int64_t>& give);
  void broadcast(const at::Tensor& tensor, int root);  // dense; the same layout on every rank
  // [n, ...] of every rank to [size, n, ...]; the same shape on every rank.
  at::Tensor all_gather(const at::Tensor& tensor);
  // Whether all ranks say yes: through the store, without the device or its memory.
  bool all_agree(bool own);
  void barrier();
  // Text from rank 0 to all through the store, without a device. A key may be used again.
  std::string share(const std::string& key, const std::string& text);
  // Every rank's text on rank 0, in rank order, through the store; nothing elsewhere.
  std::vector<std::string> collect(const std::string& key, const std::string& text);
  // 0, 1, 2, …: each to one caller of any rank, through the store.
  std::int64_t next_number(const std::string& key);
  // Orderly end: all ranks meet, then the communicators go. Who serves the store waits for the
  // others to leave it, but not for one that has failed there. Call it by hand, never from statics.
  void shutdown();
  // For a failed run: drop the communicators without meeting.
  void abort();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
