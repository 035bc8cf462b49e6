// Posts that ranks exchange in a world that torchrun, Slurm or mpirun made. From them each rank
// concludes which rank failed, vanished or hangs. Posts and times go in, a verdict comes out. It
// uses no thread, network or clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/watch/hang_watch.h"
#include "runtime/launch/watch/heartbeat.h"

namespace lockstep {

// A rank's repeated report about itself.
struct Post {
  std::string host;
  std::uint64_t beats = 0;  // grows with each post
  Heartbeat heartbeat;
  std::string failure;         // the reason it ends; empty while it works
  bool in_collective = false;  // the failure was in a collective, so another rank may be the cause
};
std::string to_text(const Post& post);
// Throws Error if the text is no post, since others may be able to write to the store. Names and
// failures are made safe for a terminal.
Post post_from_text(const std::string& text);

// A rank's knowledge at one moment.
struct News {
  std::vector<Post> posts;          // of all ranks, including this one
  std::uint64_t exchanges = 0;      // successful exchanges with the store so far
  bool closed = false;              // the store is gone
  std::string damage, damage_hint;  // the damage of the store's contents; empty: none
};

struct Verdict {
  std::string what, hint;
};

struct WatchedWorld {
  int rank = 0;  // this rank
  std::size_t size = 1;
  std::string store;      // "10.0.0.1:29500"
  bool of_rank_0 = true;  // rank 0 serves the store, not an agent of the launcher
  double period_s = 0.5;  // between two posts of a rank
};

// Ends the world. Every rank decides this for itself, when
//  - a rank says that it failed by itself, or the store is closed or damaged: at once;
//  - a collective failed: as soon as a rank is found that has gone silent, or after 5 s;
//  - a rank or the store is silent for `hang_after_s`: its process is stopped, its host is down, or
//    the network is;
//  - HangWatch finds a rank that hangs, once follow() has said that the ranks train.
class WorldWatch {
 public:
  explicit WorldWatch(WatchedWorld world);
  // From now on hangs count too, and this limit replaces 60 s; 0: no limit.
  void follow(double hang_after_s);
  std::optional<Verdict> look(const News& news, double now_s);

 private:
  struct Rank {
    std::uint64_t beats = 0;
    double heard_s = 0;
  };
  double at_least(double time_s) const;
  void listen(const News& news, double now_s);
  std::vector<std::size_t> silent(const News& news, double for_s) const;
  double longest_s(const std::vector<std::size_t>& ranks) const;  // longest silence
  Verdict no_answer(const News& news, const std::vector<std::size_t>& ranks) const;
  std::optional<Verdict> failure(const News& news, double now_s);
  Verdict store_silence(const News& news, double now_s) const;
  std::optional<Verdict> silence(const News& news, double now_s) const;
  std::optional<Verdict> hang(const News& news, double now_s);
  std::string own_place(const News& news) const;

  WatchedWorld world_;
  double hang_after_s_;
  std::optional<HangWatch> hangs_;
  std::vector<Rank> ranks_;
  std::optional<double> looked_s_;
  std::uint64_t exchanges_ = 0;
  double answered_s_ = 0;  // when the store last answered
  std::optional<double> collective_failed_s_;
};

}  // namespace lockstep
