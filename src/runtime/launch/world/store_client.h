// A rank's connection to the launcher's store.
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/files/fd.h"
#include "runtime/launch/world/store_message.h"

namespace lockstep {

// The store is closed because another rank failed, or it refused the request.
class StoreFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// A key did not arrive in time.
class StoreTimedOut : public StoreFailed {
 public:
  using StoreFailed::StoreFailed;
};

// The door (store_server.h) that LOCKSTEP_STORE_FD names; -1 without the variable. Removes the
// variable from the environment and makes the door close-on-exec, since the rank's children are not
// ranks. Throws Error if it names no socket.
int take_store_door();

// A connection of its own. Several threads may use it: each waits for the requests before its own.
// All calls throw StoreFailed, and Error for a message that is too long.
class StoreClient {
 public:
  explicit StoreClient(int door);  // not owned

  void set(const std::vector<std::pair<std::string_view, std::string_view>>& values);
  // Sets `key` to `desired` if its value is `expected`, or if it is missing and `expected` is
  // empty. Returns the value afterwards, or `expected` if the key is missing.
  std::string compare_set(std::string_view key, std::string_view expected,
                          std::string_view desired);
  void append(std::string_view key, std::string_view value);
  // Adds to the stored number (0 if missing) and returns the sum. Numbers are stored as decimal
  // text.
  std::int64_t add(std::string_view key, std::int64_t number);
  // Waits until all keys exist; timeout_ms: 0 waits for ever.
  std::vector<std::string> get(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  void wait(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  bool check(const std::vector<std::string>& keys);
  bool remove(std::string_view key);
  std::int64_t count();

 private:
  // Sends a request; `take` reads the part of the answer after its kind.
  template <class Take>
  auto ask(const MessageWriter& request, const Take& take);
  std::string exchange(const std::string& framed);

  std::mutex mutex_;
  UniqueFd socket_;
};

}  // namespace lockstep
