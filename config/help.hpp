// Every key of the configuration file as text, from the tables that also read it.
#pragma once

#include <string>

namespace culvert::config {

std::string help_text();

}  // namespace culvert::config
