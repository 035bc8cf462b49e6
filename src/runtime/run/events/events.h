// events.jsonl and samples.jsonl: rank 0 appends to them, from the thread that trains and from the
// one that saves checkpoints (Recorder). All other code reads them.
#pragma once

#include "core/base/files/fd.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {

// Appends one object per line with a single write. So even after a kill, only the last line may
// lack its newline. Readers drop such a line, and the next writer cuts it off. EventWriter also
// copies each line to the descriptor in LOCKSTEP_EVENTS_FD if it is set (the launcher's progress
// display). If the disk is full, the event is lost, `failed()` counts it, and nothing is thrown.
class EventWriter {
 public:
  explicit EventWriter(const std::filesystem::path& path);  // creates the file; throws Error
  EventWriter();  // writes only to that descriptor, for events that belong to no run
  // Adds "time" (unix seconds) if absent. One thread at a time: the caller locks (Recorder does).
  void write(const nlohmann::json& event);
  int failed() const { return failed_; }
  // Makes the events written so far survive a power loss, if the disk can. Any thread.
  void sync();

 private:
  UniqueFd file_;
  int echo_fd_ = -1;
  int failed_ = 0;
};

// All events in file order. Lines that are not JSON objects are skipped and counted.
std::vector<nlohmann::json> read_events(const std::filesystem::path& path,
                                        int* bad_lines = nullptr);

// The events without those that a resume took back. After a {"kind":"resume","step":S}, earlier
// entries of steps > S are dropped. "step" counts finished optimizer steps, so the next step is S +
// 1.
std::vector<nlohmann::json> effective_events(std::vector<nlohmann::json> events);

}  // namespace lockstep
