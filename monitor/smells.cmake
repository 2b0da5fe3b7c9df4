# One folder under smells/ is one smell. Adding a folder is the whole registration.
set(smells_dir "${CMAKE_CURRENT_SOURCE_DIR}/smells")
file(GLOB smell_dirs CONFIGURE_DEPENDS LIST_DIRECTORIES true "${smells_dir}/*")
# A file that comes or goes is noticed too.
file(GLOB smell_files CONFIGURE_DEPENDS "${smells_dir}/*/*")
set(smell_sources "")
set(smell_declarations "")
set(smell_list "")
foreach(dir IN LISTS smell_dirs)
  get_filename_component(slug "${dir}" NAME)
  foreach(need smell.cpp README.md bad.py good.py)
    if(NOT EXISTS "${dir}/${need}")
      message(FATAL_ERROR "smell '${slug}' has no ${need}; "
                          "every smell folder holds smell.cpp, README.md, bad.py and good.py")
    endif()
  endforeach()
  list(APPEND smell_sources "${dir}/smell.cpp")
  string(APPEND smell_declarations "namespace ${slug} {\nextern const Smell smell;\n}\n")
  string(APPEND smell_list "    &${slug}::smell,\n")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/smell_list.inc" CONTENT
"#include \"xleak/monitor/smell.hpp\"
namespace xleak::monitor::smells {
@smell_declarations@
inline const Smell* const kAll[] = {
@smell_list@};
}
" @ONLY)
target_sources(xleak_monitor_objects PRIVATE ${smell_sources})
target_include_directories(xleak_monitor_objects PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
# Nearly all of the time goes to the headers, so files compile together: a quarter of the time. A folder of a smell is a
# namespace of its own; names of those of the ledger collide.
file(GLOB apart CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/retention/*.cpp")
set_source_files_properties(${apart} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_target_properties(xleak_monitor_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 11)
