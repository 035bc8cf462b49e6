// TensorBoard's event files: records of TensorFlow's framing, each a protocol buffer.
//
// Framing: tensorflow/core/lib/io/record_writer.h (length, its masked CRC32C, bytes, theirs).
// Messages: Event, Summary and SessionLog of tensorflow/core/util/event.proto and
// framework/summary.proto.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep {

// A value of NaN is one.
using TensorboardScalar = std::pair<std::string, double>;  // tag, value

// Each is one record, framed. time: Unix seconds. step: as TensorBoard counts along its axis.
std::string tensorboard_version(double time);  // the first record of every file
// From this file on nothing counts that earlier ones hold of this step and later ones.
std::string tensorboard_restart(double time, std::int64_t step);
// Until then it ran, and up to that step. Readers of scalars pass it over.
std::string tensorboard_stop(double time, std::int64_t step);
std::string tensorboard_scalars(double time, std::int64_t step,
                                std::span<const TensorboardScalar> scalars);

}  // namespace lockstep
