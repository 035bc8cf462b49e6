// Writes to a descriptor without blocking the caller, even if the reader stalls. A pager may stall,
// or a terminal after Ctrl-S.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace lockstep {

// A background thread writes the added text in order. If a write fails, for example because the
// reader is gone, the remaining text is dropped. Only one thread may use the queue.
class OutputQueue {
 public:
  // Throws Error if the queue cannot be created. fd: must stay open until the program ends.
  explicit OutputQueue(int fd);
  ~OutputQueue();  // drops unwritten text
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  void add(std::string_view text);  // never blocks and has no limit
  // Whether so much text is queued that the caller should stop adding text for now. Text that is
  // added nevertheless is kept.
  bool full() const;
  bool empty() const;  // all text is written or dropped
  // a descriptor that is readable if text was written since the last forget_progress()
  int progress_fd() const;
  void forget_progress();         // makes progress_fd() unreadable until text is written again
  bool wait_s(double at_most_s);  // waits until the queue is empty; returns whether it is

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may be blocked forever
};

}  // namespace lockstep
