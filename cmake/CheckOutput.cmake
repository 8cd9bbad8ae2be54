# Runs PROGRAM and fails unless it prints what the file EXPECTED holds, and the
# document DOC shows.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ ${EXPECTED} expected)
if(NOT code EQUAL 0 OR NOT printed STREQUAL expected)
  message(FATAL_ERROR
    "${PROGRAM} ended with ${code} and printed\n${printed}instead of\n${expected}")
endif()
file(READ ${DOC} doc)
string(FIND "${doc}" "${expected}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${DOC} does not show what ${PROGRAM} prints:\n${expected}")
endif()
