#include <troupe/troupe.h>

int main() { return troupe::Runtime({.threads = 1}).devices().size() == 1 ? 0 : 1; }
