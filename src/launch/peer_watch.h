// The threads that tell other ranks how this one fares, and end it when WorldWatch says so: for
// worlds that torchrun, Slurm or mpirun made, where no launcher of ours looks.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "launch/world_watch.h"

namespace lockstep {

class PeerWatch {
 public:
  // Leaves this rank's words with the others' and returns all, in rank order. May block, for ever
  // where the network is cut. Throws when there is nobody to talk to any more; Error where what it
  // got makes no sense.
  using Exchange = std::function<std::vector<std::string>(const std::string& own)>;
  // Ends the process. Runs on a thread of the watch, whatever the others do.
  using End = std::function<void(const Verdict& verdict)>;

  // posts: of all ranks, as they met.
  PeerWatch(WatchedWorld world, std::vector<Post> posts, Exchange exchange, End end);
  ~PeerWatch();  // as leave()
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  void follow(double hang_after_s, End end);  // see WorldWatch; from now on ended by `end`
  // This rank failed by itself and is about to end: returns when the others could read it, after
  // 2 s at most.
  void tell(const std::string& failure);
  // A collective failed here, perhaps because of another rank: returns only if no cause is found.
  void ask(const std::string& failure);
  // From now on the others may go without this one minding.
  void leave();

 private:
  void exchange();
  void watch();
  void post(const std::string& failure, bool in_collective);
  bool serves_store() const;
  static void stay_until(double time_s);  // monotonic

  const WatchedWorld world_;
  const Exchange exchange_;
  std::mutex mutex_;
  std::condition_variable changed_;
  News news_;
  Post own_;
  WorldWatch watch_;
  End end_;
  bool leaving_ = false, exchange_ended_ = false;
  std::thread exchanging_, watching_;
};

}  // namespace lockstep
