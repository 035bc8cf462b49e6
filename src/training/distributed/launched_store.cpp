#include "training/distributed/launched_store.h"

#include "runtime/launch/world/store_client.h"

#include <c10/util/Exception.h>

#include <string_view>

namespace lockstep {
namespace {

using StoreBytes = std::vector<std::uint8_t>;

std::string_view as_text(const StoreBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

StoreBytes as_bytes(const std::string& text) { return {text.begin(), text.end()}; }

// Rethrows a timeout as c10d's own error type, because c10d treats that differently from other
// failures.
template <class Function>
auto in_time(const Function& function) {
  try {
    return function();
  } catch (const StoreTimedOut& error) {
    C10_THROW_ERROR(DistStoreError, error.what());
  }
}

class LaunchedStore : public c10d::Store {
 public:
  LaunchedStore(int door, std::chrono::milliseconds timeout)
      : Store(timeout), door_(door), client_(door) {}

  c10::intrusive_ptr<Store> clone() override { return launched_store(door_, timeout_); }

  void set(const std::string& key, const StoreBytes& value) override {
    client_.set({{key, as_text(value)}});
  }
  StoreBytes compareSet(const std::string& key, const StoreBytes& expected,
                        const StoreBytes& desired) override {
    return as_bytes(client_.compare_set(key, as_text(expected), as_text(desired)));
  }
  StoreBytes get(const std::string& key) override { return multiGet({key}).at(0); }
  std::int64_t add(const std::string& key, std::int64_t value) override {
    return client_.add(key, value);
  }
  bool deleteKey(const std::string& key) override { return client_.remove(key); }
  bool check(const std::vector<std::string>& keys) override { return client_.check(keys); }
  std::int64_t getNumKeys() override { return client_.count(); }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    in_time([&] { client_.wait(keys, timeout.count()); });
  }
  void append(const std::string& key, const StoreBytes& value) override {
    client_.append(key, as_text(value));
  }
  std::vector<StoreBytes> multiGet(const std::vector<std::string>& keys) override {
    std::vector<StoreBytes> values;
    for (const std::string& value : in_time([&] { return client_.get(keys, timeout_.count()); }))
      values.push_back(as_bytes(value));
    return values;
  }
  void multiSet(const std::vector<std::string>& keys,
                const std::vector<StoreBytes>& values) override {
    TORCH_CHECK(keys.size() == values.size(), "a value for each key");
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (std::size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], as_text(values[i]));
    client_.set(pairs);
  }
  bool hasExtendedApi() const override { return true; }

 private:
  int door_;
  StoreClient client_;
};

}  // namespace

c10::intrusive_ptr<c10d::Store> launched_store(int door, std::chrono::milliseconds timeout) {
  return c10::make_intrusive<LaunchedStore>(door, timeout);
}

}  // namespace lockstep
