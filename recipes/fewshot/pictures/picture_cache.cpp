#include "recipes/fewshot/pictures/picture_cache.h"

#include <exception>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace lockstep::fewshot {

using View = std::shared_ptr<const Image>;

struct PictureCache::State {
  using Key = std::pair<int, int>;
  struct Held {
    Key key;
    View view;
    std::uint64_t bytes;
  };

  explicit State(std::uint64_t capacity_bytes) : capacity(capacity_bytes) {}

  // All members below must be used under the lock.
  View find(const Key& key) {
    const auto found = places.find(key);
    if (found == places.end()) return nullptr;
    held.splice(held.begin(), held, found->second);
    return found->second->view;
  }
  void keep(const Key& key, const View& view) {
    const std::uint64_t bytes =
        view->shape().values() * static_cast<std::uint64_t>(view->bits()) / 8;
    if (bytes > capacity) return;
    while (counts.bytes > capacity - bytes) {
      counts.bytes -= held.back().bytes;
      places.erase(held.back().key);
      held.pop_back();
      ++counts.evicted;
    }
    held.push_front({key, view, bytes});
    places.emplace(key, held.begin());
    counts.bytes += bytes;
  }

  const std::uint64_t capacity;
  mutable std::mutex lock;
  std::list<Held> held;  // sorted by last use, the latest first
  std::map<Key, std::list<Held>::iterator> places;
  std::map<Key, std::shared_future<View>> making;
  Counts counts;
};

PictureCache::PictureCache(std::uint64_t capacity_bytes)
    : state_(std::make_unique<State>(capacity_bytes)) {}
PictureCache::~PictureCache() = default;

View PictureCache::get(const PictureKey& picture, const std::function<Image()>& make) {
  const State::Key key{picture.picture, picture.box};
  std::promise<View> promise;
  {
    std::unique_lock guard(state_->lock);
    if (View view = state_->find(key)) {
      ++state_->counts.hits;
      return view;
    }
    if (const auto found = state_->making.find(key); found != state_->making.end()) {
      const std::shared_future<View> coming = found->second;
      ++state_->counts.hits;
      guard.unlock();
      return coming.get();
    }
    ++state_->counts.misses;
    state_->making.emplace(key, promise.get_future().share());
  }
  try {
    const View view = std::make_shared<const Image>(make());
    {
      const std::lock_guard guard(state_->lock);
      state_->keep(key, view);
      state_->making.erase(key);
    }
    promise.set_value(view);
    return view;
  } catch (...) {
    {
      const std::lock_guard guard(state_->lock);
      state_->making.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

PictureCache::Counts PictureCache::counts() const {
  const std::lock_guard guard(state_->lock);
  Counts counts = state_->counts;
  counts.views = static_cast<std::int64_t>(state_->held.size());
  return counts;
}

}  // namespace lockstep::fewshot
