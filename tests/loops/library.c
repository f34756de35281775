// The functions of outlined.rw.
#include <stdint.h>

void fill64(int64_t *p, int64_t n, int64_t x) {
  while (n-- > 0) *p++ = x;
}
void copy64(int64_t *p, const int64_t *q, int64_t n) {
  while (n-- > 0) *p++ = *q++;
}
