// The program that is built for its precompiled headers, common_headers.h.
int main() {}
