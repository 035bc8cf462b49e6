// Takes the error message out of an exception. ATen adds about twenty C++ stack frames to its
// messages, and people hardly find the message among them.
#pragma once

#include <exception>
#include <string>

namespace lockstep {

std::string message_of(const std::exception& error);  // the message without stack frames
std::string first_line_of(const std::exception& error);
// Returns advice for torch errors that users' own models often cause. Returns an empty text for
// other messages.
std::string advice_on(const std::string& message);
// Returns the C++ stack frames in which the exception was thrown. Returns an empty text if the
// exception holds no frames.
std::string frames_of(const std::exception& error);

}  // namespace lockstep
