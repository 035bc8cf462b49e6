// Declares the style of all HTML reports.
#pragma once

namespace lockstep {

extern const char* const page_style;  // CSS

}  // namespace lockstep
