# `cmake --install` and find_package(PIT), from the installed package or from the build
# folder: the C interfaces of the compiler and the runtime, the C++ libraries, the plugin
# and the tools. examples/embed and examples/standalone are projects that use them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# PITTargets: what needs no MLIR to be linked.
set(PIT_INSTALLED pit_runtime PITCompiler PITPlugin)
set(PIT_EXPORT_NAMES runtime compiler plugin)
foreach(target name IN ZIP_LISTS PIT_INSTALLED PIT_EXPORT_NAMES)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()
foreach(tool pit-opt pit-lsp-server pit-reduce pit-compile pit-run pit-bench)
  if(TARGET ${tool})
    list(APPEND PIT_INSTALLED ${tool})
  endif()
endforeach()
# The tools find the libraries beside them, all find LLVM where it was built
# against.
set_target_properties(${PIT_INSTALLED} PROPERTIES
  INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
  INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS ${PIT_INSTALLED} EXPORT PITTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS pit_jax LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# PITLibraries: the C++ libraries. Five have names of their own, which stay; the others
# are what these are made of.
get_property(PIT_LIBRARIES GLOBAL PROPERTY PIT_COMPILER_LIBRARIES)
set_target_properties(PITAnalysis PROPERTIES EXPORT_NAME analysis)
set_target_properties(PITDialect PROPERTIES EXPORT_NAME dialect)
set_target_properties(PITTransforms PROPERTIES EXPORT_NAME transforms)
set_target_properties(PITCodegenMainloop PROPERTIES EXPORT_NAME codegen)
set_target_properties(PITPipelines PROPERTIES EXPORT_NAME pipelines)
install(TARGETS ${PIT_LIBRARIES} pit_support EXPORT PITLibraries)

set(PIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/PIT)
foreach(set PITTargets PITLibraries)
  install(EXPORT ${set} NAMESPACE PIT:: DESTINATION ${PIT_CMAKE_DIR})
  export(EXPORT ${set} NAMESPACE PIT:: FILE ${PROJECT_BINARY_DIR}/${set}.cmake)
endforeach()
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/PITConfig.cmake.in ${PROJECT_BINARY_DIR}/PITConfig.cmake
  INSTALL_DESTINATION ${PIT_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PITConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PITConfig.cmake
              ${PROJECT_BINARY_DIR}/PITConfigVersion.cmake
  DESTINATION ${PIT_CMAKE_DIR})

# Headers, those that TableGen made, and its sources.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pit-runtime
                  ${PROJECT_SOURCE_DIR}/include/pit-c
                  ${PROJECT_SOURCE_DIR}/include/pit ${PROJECT_BINARY_DIR}/include/pit
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.h.inc"
  PATTERN CMakeFiles EXCLUDE)

# For those who use the C interfaces without CMake. Their paths begin where they lie.
set(PIT_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PIT_PKGCONFIG_INCLUDE
  /${PIT_PKGCONFIG_DIR} /${CMAKE_INSTALL_INCLUDEDIR})
# pit-c/Dialect.h and pit-c/Passes.h include MLIR's C headers.
list(TRANSFORM MLIR_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE PIT_PKGCONFIG_MLIR)
list(REMOVE_DUPLICATES PIT_PKGCONFIG_MLIR)
list(JOIN PIT_PKGCONFIG_MLIR " " PIT_PKGCONFIG_MLIR)
foreach(name pit-runtime pit-compiler)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in
    ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${PIT_PKGCONFIG_DIR})
endforeach()

# pit-tune is a program on the package of Python.
set(PIT_TUNE_PACKAGE ../${CMAKE_INSTALL_LIBDIR}/python)
set(PIT_TUNE_RUNTIME ../${CMAKE_INSTALL_LIBDIR}/libpit_runtime.so)
configure_file(${PROJECT_SOURCE_DIR}/tools/pit-tune/pit-tune.in
               ${PROJECT_BINARY_DIR}/pit-tune.install @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/pit-tune.install
  DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME pit-tune)

# PYTHONPATH=<prefix>/lib/python finds the package, which finds the runtime and, beside
# that, the extension module.
install(TARGETS pit_call LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/pit
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/python
  PATTERN __pycache__ EXCLUDE)
