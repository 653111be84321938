#include <cstdio>

int main() { std::puts("attune 0.1.0"); }
