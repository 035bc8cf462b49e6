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

// Returns the socket (StoreServer::door) that LOCKSTEP_STORE_FD names; -1 without the variable.
// Removes the variable and makes the socket close-on-exec, because the rank's children are not
// ranks. Throws Error if the variable does not name a socket.
int take_store_door();

// One connection. Several threads may use it, but each request waits until earlier ones are
// answered. All calls throw StoreFailed. They throw Error for a message that is too long.
class StoreClient {
 public:
  explicit StoreClient(int door);  // the caller keeps the socket

  void set(const std::vector<std::pair<std::string_view, std::string_view>>& values);
  // Sets `key` to `desired` if its value is `expected`, or if it is missing and `expected` is
  // empty. Returns the value afterwards, or `expected` if the key is missing.
  std::string compare_set(std::string_view key, std::string_view expected,
                          std::string_view desired);
  void append(std::string_view key, std::string_view value);
  // Adds to the stored number (0 if it is missing) and returns the sum. Numbers are stored as
  // decimal text.
  std::int64_t add(std::string_view key, std::int64_t number);
  // Waits until all keys exist. timeout_ms: 0 = no limit.
  std::vector<std::string> get(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  void wait(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  bool check(const std::vector<std::string>& keys);
  bool remove(std::string_view key);
  std::int64_t count();

 private:
  // Sends a request. `take` reads the rest of the answer after its first number.
  template <class Take>
  auto ask(const MessageWriter& request, const Take& take);
  std::string exchange(const std::string& framed);

  std::mutex mutex_;
  UniqueFd socket_;
};

}  // namespace lockstep
