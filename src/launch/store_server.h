// The store in which the ranks of a launched run meet: keys and values that one of them leaves and
// others wait for.
#pragma once

#include <memory>

namespace lockstep {

// It has no address: ranks inherit a socket, its door, through which each hands over one end of a
// connection of its own. So no process but them can reach it, whoever it belongs to.
class StoreServer {
 public:
  StoreServer();   // starts its thread; throws Error
  ~StoreServer();  // who waits for an answer learns that the store is closed
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  int door() const;  // close-on-exec, above stderr; named to ranks in LOCKSTEP_STORE_FD

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
