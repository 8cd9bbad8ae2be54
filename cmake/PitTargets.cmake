# Targets of pit: compiler libraries link the MLIR and LLVM dylibs, nothing
# static, so that a full build stays in minutes.

set(PIT_WARNINGS -Wall -Wextra -Werror)

# pit_add_compiler_library(NAME sources... [DEPENDS targets] [LINK libraries])
function(pit_add_compiler_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  pit_compiler_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# Flags of every C++ target that includes MLIR.
function(pit_compiler_options name)
  target_compile_options(${name} PRIVATE ${PIT_WARNINGS} -Wno-unused-parameter)
  target_compile_definitions(${name} PRIVATE ${LLVM_DEFINITIONS_LIST})
endfunction()
