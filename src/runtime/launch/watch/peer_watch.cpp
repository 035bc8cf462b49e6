#include "runtime/launch/watch/peer_watch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace lockstep {
namespace {

constexpr double look_s = 0.25;
// How long a rank that ends waits until the others know why.
constexpr double telling_s = 2;
constexpr double asking_s = 15;  // longer than WorldWatch looks for a cause

std::chrono::duration<double> seconds(double time_s) {
  return std::chrono::duration<double>(time_s);
}

}  // namespace

PeerWatch::PeerWatch(WatchedWorld world, std::vector<Post> posts, Exchange exchange, End end)
    : world_(world),
      exchange_(std::move(exchange)),
      own_(posts.at(static_cast<std::size_t>(world.rank))),
      watch_(std::move(world)),
      end_(std::move(end)) {
  news_.posts = std::move(posts);
  exchanging_ = std::thread([this] { this->exchange(); });
  watching_ = std::thread([this] { watch(); });
}

PeerWatch::~PeerWatch() {
  leave();
  exchanging_.join();
  watching_.join();
}

void PeerWatch::follow(double hang_after_s, End end) {
  const std::lock_guard lock(mutex_);
  watch_.follow(hang_after_s);
  end_ = std::move(end);
}

void PeerWatch::leave() {
  const std::lock_guard lock(mutex_);
  leaving_ = true;
  changed_.notify_all();
}

void PeerWatch::post(const std::string& failure, bool in_collective) {
  std::unique_lock lock(mutex_);
  own_.failure = failure;
  own_.in_collective = in_collective;
  const std::uint64_t first = news_.exchanges;
  changed_.notify_all();
  // An exchange that was already under way may have sent the old text, so this waits for the next
  // one.
  changed_.wait_for(lock, seconds(telling_s),
                    [&] { return news_.exchanges >= first + 2 || exchange_ended_; });
}

void PeerWatch::tell(const std::string& failure) {
  const double begin_s = system_clock().now_s();
  post(failure, /*in_collective=*/false);
  if (serves_store()) stay_until(begin_s + telling_s);
}

// Rank 0 serves the store. It must stay until the others have read the failure there.
bool PeerWatch::serves_store() const { return world_.rank == 0 && world_.of_rank_0; }

void PeerWatch::stay_until(double time_s) {
  std::this_thread::sleep_for(seconds(std::max(time_s - system_clock().now_s(), 0.0)));
}

void PeerWatch::ask(const std::string& failure) {
  post(failure, /*in_collective=*/true);
  std::this_thread::sleep_for(seconds(asking_s + 6 * world_.period_s));
}

// Exchanges posts with the store in one thread, which may block.
void PeerWatch::exchange() {
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    own_.heartbeat = own_heartbeat();
    ++own_.beats;
    const std::string own = to_text(own_);
    lock.unlock();
    std::vector<Post> posts;
    try {
      for (const std::string& text : exchange_(own)) posts.push_back(post_from_text(text));
    } catch (const Error& error) {
      lock.lock();
      news_.damage = error.what();
      news_.damage_hint = error.hint();
      break;
    } catch (const std::exception&) {
      lock.lock();
      news_.closed = !leaving_;
      break;
    }
    lock.lock();
    news_.posts = std::move(posts);
    ++news_.exchanges;
    changed_.notify_all();
    const std::string before = own_.failure;
    changed_.wait_for(lock, seconds(world_.period_s),
                      [&] { return leaving_ || own_.failure != before; });
  }
  exchange_ended_ = true;
  changed_.notify_all();
}

// Evaluates the news in another thread, which never blocks on the store.
void PeerWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    const auto verdict = watch_.look(news_, system_clock().now_s());
    if (verdict) {
      const End end = end_;
      lock.unlock();
      if (serves_store()) stay_until(system_clock().now_s() + telling_s);
      end(*verdict);
      return;
    }
    changed_.wait_for(lock, seconds(look_s), [this] { return leaving_; });
  }
}

}  // namespace lockstep
