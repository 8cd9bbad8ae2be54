# Makes the text PTX the string of a pit_image SYMBOL (C).

file(READ ${PTX} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n\"" text "${text}")
file(WRITE ${C} "#include \"Index/CudaIndexScan.h\"\n
static const char ptx[] =\n\"${text}\";\n
const pit_image ${SYMBOL} = {ptx, sizeof(ptx)};\n")
