// Scalars of TensorBoard's event files: TFRecords of Event messages, by hand.
// https://www.tensorflow.org/tutorials/load_data/tfrecord; tensorflow/core/util/event.proto
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct ScalarEvent {
  std::string tag;
  std::int64_t step = 0;
  double wall_time = 0;  // unix seconds
  double value = 0;
};

// SessionLog START or STOP. Of a START: of what came before nothing counts from this step on.
struct TensorboardSession {
  double wall_time = 0;
  std::int64_t step = 0;
  bool starts = true;
};

struct TensorboardFile {
  std::vector<ScalarEvent> scalars;  // in the order of the file
  std::int64_t damaged = 0;          // events whose message is none
  bool torn = false;                 // the last record is not whole, or its checksum is wrong
};

// Both forms of scalars: simple_value, and tensors of one float or double. What else is in the file
// is skipped, records of more than 64 MiB among it, which no scalar has; never is more than that in
// memory. Ends at the first record that is damaged: what follows cannot be found. Throws Error
// where not even the first one is whole; `name` is for that.
TensorboardFile read_tensorboard(std::istream& in, const std::string& name);
// The same without keeping the scalars: each is given to `visit`, and sessions where they stand
// between them.
TensorboardFile read_tensorboard(
    std::istream& in, const std::string& name, const std::function<void(const ScalarEvent&)>& visit,
    const std::function<void(const TensorboardSession&)>& visit_session);
TensorboardFile read_tensorboard(std::string_view bytes, const std::string& name);

}  // namespace lockstep
