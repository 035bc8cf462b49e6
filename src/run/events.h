// events.jsonl and samples.jsonl: appended by rank 0, read by everything else.
#pragma once

#include "base/fd.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {

// Appends one object a line with a single write, so that a reader or a kill sees whole lines or a
// last one without its newline, which readers drop and the next writer cuts off. Also copies each
// line to the descriptor in LOCKSTEP_EVENTS_FD if that is set (the launcher's progress display).
// When the disk is full: the event is lost, `failed()` counts it, nothing is thrown.
class EventWriter {
 public:
  explicit EventWriter(const std::filesystem::path& path);  // creates; throws Error
  EventWriter();                            // to that descriptor alone, for what goes into no run
  void write(const nlohmann::json& event);  // adds "time" (unix seconds) if absent
  int failed() const { return failed_; }
  // What was written so far outlasts a power loss, if the disk can; any thread.
  void sync();

 private:
  UniqueFd file_;
  int echo_fd_ = -1;
  int failed_ = 0;
};

// All events in file order. Lines that are not JSON objects are passed over and counted.
std::vector<nlohmann::json> read_events(const std::filesystem::path& path,
                                        int* bad_lines = nullptr);

// The curve without what a resume took back: after a {"kind":"resume","step":S}, earlier entries of
// steps > S are dropped ("step" counts finished optimizer steps, so the step that follows is S +
// 1).
std::vector<nlohmann::json> effective_events(std::vector<nlohmann::json> events);

}  // namespace lockstep
