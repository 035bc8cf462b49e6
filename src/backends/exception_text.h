// Takes the error message out of an exception. ATen adds about twenty C++ frames to its messages,
// among which people hardly find the message.
#pragma once

#include <exception>
#include <string>

namespace lockstep {

std::string message_of(const std::exception& error);  // the message without the C++ frames
std::string first_line_of(const std::exception& error);
// Advice for torch errors that users' own models often cause. The advice is empty for other
// messages.
std::string advice_on(const std::string& message);
// The C++ frames in which the exception was thrown. The text is empty if the exception has none.
std::string frames_of(const std::exception& error);

}  // namespace lockstep
