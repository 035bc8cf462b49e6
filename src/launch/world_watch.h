// What the ranks of a world that others made tell each other, and what each concludes: who failed,
// who vanished, who hangs. Posts and times go in, a verdict comes out; no thread, network or clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/hang_watch.h"
#include "launch/heartbeat.h"

namespace lockstep {

// What a rank says of itself, again and again.
struct Post {
  std::string host;
  std::uint64_t beats = 0;  // grows with each post
  Heartbeat heartbeat;
  std::string failure;         // what ends it; empty while it works
  bool in_collective = false;  // that is a collective, so that another rank may be the cause
};
std::string to_text(const Post& post);
// The store may hold what is no post, where others can write to it: throws Error. Names and
// failures are fit for a terminal.
Post post_from_text(const std::string& text);

// What a rank knows at a moment.
struct News {
  std::vector<Post> posts;          // of all ranks, this one's included
  std::uint64_t exchanges = 0;      // with the store, so far
  bool closed = false;              // the store is gone
  std::string damage, damage_hint;  // of what it holds; empty: none
};

struct Verdict {
  std::string what, hint;
};

struct WatchedWorld {
  int rank = 0;  // this one
  std::size_t size = 1;
  std::string store;      // "10.0.0.1:29500"
  bool of_rank_0 = true;  // it serves the store, not an agent of the launcher
  double period_s = 0.5;  // between two posts of a rank
};

// Ends the world, on each rank by itself, when
//  - a rank says that it failed by itself, or the store is closed or damaged: at once;
//  - a collective failed: as soon as a rank is found that has gone silent, or after 5 s;
//  - a rank or the store is silent for `hang_after_s`: its process is stopped, its host is down, or
//    the network is;
//  - HangWatch finds a rank that hangs, once follow() has said that the ranks train.
class WorldWatch {
 public:
  explicit WorldWatch(WatchedWorld world);
  // From now on hangs count too, and this time instead of 60 s; 0: nothing takes too long.
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
  double longest_s(const std::vector<std::size_t>& ranks) const;  // silent
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
  double answered_s_ = 0;  // the store
  std::optional<double> collective_failed_s_;
};

}  // namespace lockstep
