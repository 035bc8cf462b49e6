# Runs PROGRAM WORDS and compares its standard output with the file EXPECTED.
execute_process(COMMAND ${PROGRAM} ${WORDS} OUTPUT_VARIABLE got RESULT_VARIABLE code)
file(READ ${EXPECTED} expected)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit code ${code}")
endif()
if(NOT got STREQUAL expected)
  message(FATAL_ERROR "differs from ${EXPECTED}; got:\n${got}")
endif()
