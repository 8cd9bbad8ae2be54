# Targets of pit. A compiler library says nothing about where MLIR comes from. Tools
# and tests link the dylibs, MLIR and LLVM; libPITCompiler links their archives. One
# target never links both, because each copy of MLIR has TypeIDs of its own.

set(PIT_WARNINGS -Wall -Wextra -Werror)

# MLIR's headers cost most of a source file's compile time: they are compiled once.
# The header does not pass through ccache, because it holds paths of this checkout;
# `.sum` is what ccache goes by instead, so that objects are found across checkouts
# (PitToolchain sets what this needs of ccache). For the same reason CMake must not
# name the header beside its precompiled form: ccache would hash that path.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
function(pit_add_precompiled_header name)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  pit_compiler_options(${name})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
  set(contents "${LLVM_PACKAGE_VERSION} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE}")
  foreach(header ${ARGN})
    file(SHA256 ${header} sum)
    string(APPEND contents " ${sum}")
  endforeach()
  file(CONFIGURE OUTPUT
    ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum
    CONTENT "${contents}")
endfunction()

# pit_add_compiler_library(NAME sources... [DEPENDS targets] [LINK libraries] [INTERNAL])
# adds a library of the package, unless it is INTERNAL.
function(pit_add_compiler_library name)
  cmake_parse_arguments(ARG "INTERNAL" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  pit_compiler_options(${name})
  target_precompile_headers(${name} REUSE_FROM PITPrecompiled)
  # For those who link it, here and elsewhere.
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  # Private headers of other folders are named from lib/ on.
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY PIT_COMPILER_LIBRARIES ${name})
  endif()
endfunction()

# pit_embed_tables(NAME...): NAME.json of this folder as a C++ string, NAME.inc.
function(pit_embed_tables)
  foreach(name ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${name}.json)
    file(READ ${name}.json table)
    file(CONFIGURE OUTPUT ${name}.inc CONTENT "R\"json(@table@)json\"\n" @ONLY)
  endforeach()
endfunction()

# Flags of every C++ target that includes MLIR.
function(pit_compiler_options name)
  target_compile_options(${name} PRIVATE ${PIT_WARNINGS} -Wno-unused-parameter)
  target_compile_definitions(${name} PRIVATE ${LLVM_DEFINITIONS_LIST})
endfunction()

# Sets `variable` to the archives of MLIR and LLVM and what these need. They are
# named by their files: the archives' targets bring LLVM's dylib along, and the
# exported target of what links them is not to depend on others. The linker
# takes from them what is used.
function(pit_get_mlir_archives variable)
  get_property(mlir GLOBAL PROPERTY MLIR_ALL_LIBS)
  set(llvm ${LLVM_AVAILABLE_LIBS})
  list(FILTER llvm INCLUDE REGEX "^LLVM") # not Polly, which is packaged apart
  set(archives)
  foreach(library ${mlir} ${llvm})
    if(NOT TARGET ${library})
      continue()
    endif()
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND archives $<TARGET_FILE:${library}>)
    endif()
  endforeach()
  foreach(library ZLIB::ZLIB zstd::libzstd_shared)
    if(TARGET ${library})
      list(APPEND archives $<TARGET_FILE:${library}>)
    endif()
  endforeach()
  set(${variable} ${archives} PARENT_SCOPE)
endfunction()
