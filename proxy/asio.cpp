// Compiles Asio and Beast once for the whole project.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
