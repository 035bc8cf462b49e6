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

// A SessionLog START or STOP. A START invalidates earlier events of the file whose step is not
// below its own.
struct TensorboardSession {
  double wall_time = 0;
  std::int64_t step = 0;
  bool starts = true;
};

struct TensorboardFile {
  std::vector<ScalarEvent> scalars;  // in the order of the file
  std::int64_t damaged = 0;          // number of events with an invalid message
  bool torn = false;  // whether the last record is incomplete or has a wrong checksum
};

// Reads both forms of scalars: simple_value, and tensors of one float or double. Other contents are
// skipped. Records of more than 64 MiB are skipped too, because no scalar is that large. At most
// one record is in memory. Reading ends at the first damaged record, because the beginning of the
// next record is then unknown. Throws Error, which contains `name`, if not even the first record is
// whole.
TensorboardFile read_tensorboard(std::istream& in, const std::string& name);
// Reads a file in the same way, but without keeping the scalars. Each scalar is passed to `visit`,
// and each session to `visit_session`, in the order of the file.
TensorboardFile read_tensorboard(
    std::istream& in, const std::string& name, const std::function<void(const ScalarEvent&)>& visit,
    const std::function<void(const TensorboardSession&)>& visit_session);
TensorboardFile read_tensorboard(std::string_view bytes, const std::string& name);

}  // namespace lockstep
