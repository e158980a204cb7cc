# cmake -DCOMPLAINT=TEXT -P must_complain.cmake -- COMMAND: fails unless COMMAND ends with 1, the
# status of a check that found something, and complains of TEXT.
set(command "")
set(separator_seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(separator_seen)
        list(APPEND command "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(separator_seen TRUE)
    endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status EQUAL 1 OR NOT errors MATCHES "${COMPLAINT}")
    message(FATAL_ERROR "not caught: status ${status}\n${output}${errors}")
endif()
message("caught:\n${errors}")
