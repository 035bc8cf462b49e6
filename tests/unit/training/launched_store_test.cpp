// The launcher's store behind c10d's interface, as Gloo and NCCL use it.
#include "training/distributed/launched_store.h"

#include "runtime/launch/world/store_client.h"
#include "runtime/launch/world/store_server.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <optional>

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

TEST(LaunchedStore, DoesWhatC10dAsksOfAStore) {
  const StoreServer server;
  const auto store = launched_store(server.door(), 30s);
  const auto prefixed = c10::make_intrusive<c10d::PrefixStore>("prefix", store->clone());
  prefixed->set("key", Bytes{1, 0, 255});
  EXPECT_EQ(store->get("prefix/key"), (Bytes{1, 0, 255}));
  EXPECT_TRUE(prefixed->hasExtendedApi());
  prefixed->append("key", Bytes{7});
  prefixed->multiSet({"a", "b"}, {Bytes{}, Bytes{2}});
  EXPECT_EQ(prefixed->multiGet({"b", "a", "key"}), (std::vector<Bytes>{{2}, {}, {1, 0, 255, 7}}));
  EXPECT_EQ(prefixed->add("sum", 3), 3);
  EXPECT_EQ(prefixed->add("sum", 0), 3);
  EXPECT_EQ(prefixed->compareSet("b", Bytes{2}, Bytes{3}), Bytes{3});
  EXPECT_EQ(store->getNumKeys(), 4);
  EXPECT_TRUE(prefixed->deleteKey("a"));
  EXPECT_FALSE(prefixed->check({"a"}));
  prefixed->wait({"b"});
}

TEST(LaunchedStore, AKeyThatDoesNotComeIsC10dsErrorOfAStore) {
  const StoreServer server;
  const auto store = launched_store(server.door(), 20ms);
  EXPECT_THROW(store->get("never"), c10::DistStoreError);
  EXPECT_THROW(store->wait({"never"}, 20ms), c10::DistStoreError);
  store->set("never", Bytes{1});
  EXPECT_EQ(store->get("never"), Bytes{1});
}

TEST(LaunchedStore, FailsWhenTheLauncherClosesIt) {
  std::optional<StoreServer> server(std::in_place);
  const auto store = launched_store(server->door(), 30s);
  server.reset();
  EXPECT_THROW(store->get("key"), StoreFailed);
}

}  // namespace
}  // namespace lockstep
