// The look of every report in HTML.
#pragma once

namespace lockstep {

extern const char* const page_style;  // CSS

}  // namespace lockstep
