// Accesses of different types and scopes: memory that changes its type, unions, bytes, structures with a common start, and
// `restrict` that holds for one call only.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

struct point { int x; float y; };
struct named { struct point at; int id; };
struct other { int x; float y; };
union word { uint32_t n; float f; };

KEEP int forwarded(int *p, float *q) { int a = *p; *q = 2.5f; return a + *p; }
KEEP int stored(int *p, float *q, int v) { *p = v; *q = 1.5f; return *p * 3; }
KEEP int members(struct point *p, struct named *n) { p->x = 7; n->at.y = 1.0f; n->id = 3; return p->x; }
KEEP int inner(struct point *p, struct named *n) { p->x = 7; n->at.x = 9; return p->x; }
KEEP int unrelated(struct point *p, struct other *o) { p->x = 7; o->x = 9; return p->x; }
KEEP int scalar(struct point *p, int *q) { p->x = 7; *q = 9; return p->x; }
KEEP int bytes(int *p, char *q) { *p = 0x01020304; q[1] = 0x55; return *p; }

// The allocation is of one type after the other.
KEEP double changes(void *memory, int v) {
  int *n = memory;
  *n = v;
  int old = *n;
  double *d = memory;
  *d = 4.25;
  return *d + old;
}
KEEP int back(void *memory, float f) {
  *(float *)memory = f;
  *(int *)memory = 17;
  *(float *)memory = f;
  return 1;
}
KEEP long late(void *memory, int c) {
  long first = *(long *)memory;
  *(long long *)memory = 5;
  // A value that was loaded before is not loaded again behind the store.
  return c ? first * 3 : 0;
}
KEEP long arms(void *memory, long long *q, int c) {
  if (c) {
    *q = 11;
    return *(long *)memory;
  }
  *q = 13;
  return (long)*(long long *)memory;
}
KEEP uint32_t pun(union word *w, float f) { w->n = 1; w->f = f; return w->n; }
KEEP int copied(int *p, float f) {
  *p = 3;
  memcpy(p, &f, sizeof f);
  int out;
  memcpy(&out, p, sizeof out);
  return out;
}
KEEP int in_loop(int *p, float *q, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += *p;
    q[i] = (float)sum;
  }
  return sum + *p;
}
KEEP int both_in_loop(int *p, float *q, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += *p;
    q[i] = (float)sum;
    *p = sum;
  }
  return sum;
}

// Two iterations may name each other's memory, one may not.
static inline void step(int *restrict to, const int *restrict from) {
  int first = *from;
  *to = first + 1;
  *to += *from;
}
KEEP int chain(int *a, int n) {
  for (int i = 0; i + 1 < n; i++) step(a + i + 1, a + i);
  return a[n - 1];
}
static inline int twice(int *restrict to, const int *restrict from) {
  *to = 5;
  return *from;
}
KEEP int swapped(int *a, int *b) {
  int x = twice(a, b);
  int y = twice(b, a);
  return 10 * x + y;
}
KEEP int alternating(int *a, int *b, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum = sum * 3 + twice(a, b);
    *b = sum;
    int *t = a;
    a = b;
    b = t;
  }
  return sum;
}

int main(void) {
  struct named n = {{1, 2.0f}, 4};
  struct point p = {1, 2.0f};
  struct other o = {3, 4.0f};
  union word w;
  int x = 5, y = 6, a[6] = {1, 2, 3, 4, 5, 6};
  float f = 0, g[8];
  printf("%d %d %f\n", forwarded(&x, &f), stored(&x, &f, 12), f);
  printf("%d %d %d %d %d\n", members(&p, &n), inner(&n.at, &n), unrelated(&p, &o), scalar(&p, &p.x), bytes(&x, (char *)&x));
  void *memory = malloc(16);
  printf("%f\n", changes(memory, 8));
  back(memory, 3.5f);
  printf("%f\n", *(float *)memory);
  *(long *)memory = 9;
  printf("%ld %lld\n", late(memory, 1), *(long long *)memory);
  long here = 21;
  long long there = 22;
  printf("%ld %ld\n", arms(&here, &there, 1), arms(&there, &there, 0));
  printf("%u %d\n", pun(&w, 1.0f), copied(memory, 2.0f));
  x = 3;
  printf("%d %d\n", in_loop(&x, g, 8), both_in_loop(&x, g, 5));
  printf("%d %d %d\n", chain(a, 6), swapped(&x, &y), alternating(&x, &y, 7));
  free(memory);
  return 0;
}
