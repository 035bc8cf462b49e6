// Writing to a descriptor whose reader may stall (a terminal after Ctrl-S, a pager), held up by
// nobody.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace lockstep {

// What is added is written in order by a thread of its own. After an error of the descriptor
// (nobody reads it any more) the rest is dropped. One thread uses it.
class OutputQueue {
 public:
  explicit OutputQueue(int fd);  // not owned; must stay open until the program ends. Throws Error
  ~OutputQueue();                // drops what is not written yet
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  void add(std::string_view text);  // whatever waits already
  // Whether so much waits that the source should be read no further for now. What is added after
  // that is kept all the same.
  bool full() const;
  bool empty() const;             // all is written, or dropped
  int progress_fd() const;        // readable when some was written since the last wait()
  void forget_progress();         // so that progress_fd() waits for the next
  bool wait_s(double at_most_s);  // until it is empty; whether it is

 private:
  struct State;
  std::shared_ptr<State> state_;  // also the thread's, which may be stuck for good
};

}  // namespace lockstep
