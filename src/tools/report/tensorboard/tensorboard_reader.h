// Reads scalars from TensorBoard's event files, which are TFRecords of Event messages. Sources:
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

// SessionLog START or STOP. A START invalidates earlier values from this step on.
struct TensorboardSession {
  double wall_time = 0;
  std::int64_t step = 0;
  bool starts = true;
};

struct TensorboardFile {
  std::vector<ScalarEvent> scalars;  // in file order
  std::int64_t damaged = 0;          // events with an invalid message
  bool torn = false;                 // the last record is incomplete, or its checksum is wrong
};

// Reads both forms of scalars: simple_value, and tensors of one float or double. Other contents are
// skipped, including records of more than 64 MiB, which no scalar has. So at most one such record
// is in memory. Ends at the first damaged record, since later ones cannot be found. If not even the
// first record is whole, throws Error that names `name`.
TensorboardFile read_tensorboard(std::istream& in, const std::string& name);
// The same without keeping the scalars. Each goes to `visit`, and each session to `visit_session`,
// in file order.
TensorboardFile read_tensorboard(
    std::istream& in, const std::string& name, const std::function<void(const ScalarEvent&)>& visit,
    const std::function<void(const TensorboardSession&)>& visit_session);
TensorboardFile read_tensorboard(std::string_view bytes, const std::string& name);

}  // namespace lockstep
