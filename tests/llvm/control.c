// Switches, loops with several exits, values that are not defined on all paths, indirect calls, variable arguments.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline))

KEEP int sparse(int x) {
  switch (x) {
  case -7: return 1;
  case 0: return x + 2;
  case 1: return 2 * x;
  case 100: return x;
  case 2147483647: return 5;
  default: return x > 5 ? x - 1 + 1 : 0;
  }
}
KEEP int shared(unsigned x, int y) {
  int r = 0;
  switch (x % 6) {
  case 0:
  case 1: r = y; break;
  case 2: r = y + y;
  case 3: r += 1; break;
  case 4: return y;
  }
  return r * 2;
}
KEEP int find(const char *s, char c) {
  for (int i = 0;; i++) {
    if (s[i] == c) return i;
    if (!s[i]) return -1;
  }
}
KEEP int sometimes(int x, int n) {
  int y;
  if (x > 0) y = n * 4;
  int z = 0;
  for (int i = 0; i < n; i++) {
    if (x > 0) z += y / 4 + i * 3 - i;
  }
  return z;
}
KEEP int sum(int n, ...) {
  va_list list;
  va_start(list, n);
  int s = 0;
  for (int i = 0; i < n; i++) s += va_arg(list, int) * 2;
  va_end(list);
  return s;
}
KEEP int apply(int (*f)(int), int x) { return f(x) + f(x) * 0; }
KEEP int negated(int x) { return -(-x); }
KEEP uint64_t collatz(uint64_t n) {
  uint64_t steps = 0;
  while (n != 1) {
    n = n % 2 ? n * 3 + 1 : n / 2;
    steps += 1;
  }
  return steps;
}
KEEP int nested(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      if ((i + j) % 3 == 0) continue;
      if (s > 5000) goto out;
      s += i * 8 + j - j;
    }
out:
  return s;
}

int main(void) {
  for (int i = -20; i < 120; i++)
    printf("%d %d %d %d %d\n", sparse(i), shared((unsigned)i, i), sometimes(i, i & 7), apply(sparse, i), apply(negated, i));
  printf("%d %d %d %d\n", sparse(2147483647), find("hello", 'l'), find("hello", 'z'), sum(4, 1, 2, 3, -9));
  for (uint64_t n = 1; n < 40; n++) printf("%llu %d\n", (unsigned long long)collatz(n), nested((int)n));
  return 0;
}
