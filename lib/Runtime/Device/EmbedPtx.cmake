# Takes the PTX out of a gpu.binary (IN), as a file (PTX) and as the string of a
# pit_image SYMBOL (C).

file(READ ${IN} text)
string(REGEX MATCH "assembly = \"([^\"]*)\"" found "${text}")
if(NOT found)
  message(FATAL_ERROR "${IN} holds no assembly")
endif()
set(escaped "${CMAKE_MATCH_1}")
# MLIR writes \HH for what is not printable; the text ends in \00.
string(REPLACE "\\00" "" escaped "${escaped}")
if(escaped MATCHES "\\\\[^02][0-9A-F]|\\\\0[^9A]|\\\\2[^2]")
  message(FATAL_ERROR "${IN}: unexpected escape ${CMAKE_MATCH_0}")
endif()

string(REPLACE "\\0A" "\n" ptx "${escaped}")
string(REPLACE "\\09" "\t" ptx "${ptx}")
string(REPLACE "\\22" "\"" ptx "${ptx}")
file(WRITE ${PTX} "${ptx}")

string(REPLACE "\\0A" "\\n\"\n\"" c "${escaped}")
string(REPLACE "\\09" "\\t" c "${c}")
string(REPLACE "\\22" "\\\"" c "${c}")
file(WRITE ${C} "#include \"Index/CudaIndexScan.h\"\n
static const char ptx[] =\n\"${c}\";\n
const pit_image ${SYMBOL} = {ptx, sizeof(ptx)};\n")
