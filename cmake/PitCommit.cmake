# Writes the header OUT, which names the commit of SOURCE as PIT_COMMIT, "+" after it if
# something was changed since; "unknown" outside of git. Touched only if it differs.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty=+ --exclude=*
  OUTPUT_VARIABLE commit RESULT_VARIABLE status
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT status EQUAL 0)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define PIT_COMMIT \"${commit}\"\n")
