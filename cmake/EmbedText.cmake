# Writes a C++ source in which a text file is a constant.
#   cmake -D OUT=FILE -D TEXT=FILE -D NAME=CONSTANT -D HEADER=HEADER -P EmbedText.cmake
file(READ ${TEXT} text)
file(WRITE ${OUT} "// Made by cmake/EmbedText.cmake.\n#include \"${HEADER}\"\n\nnamespace lockstep::cli {\n
const std::string_view ${NAME} = R\"lockstep--(${text})lockstep--\";\n\n}  // namespace lockstep::cli\n")
