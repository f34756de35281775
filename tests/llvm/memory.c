// Loads after stores, dead stores, fields of structures, calls in between, pointers in memory.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

struct vec { double x, y, z; };
struct node { struct node *next; int32_t key; uint8_t tag; struct vec at; };
union bits { float f; uint32_t u; };

static int counter;
KEEP void touch(struct node *n) { n->key += ++counter; }

KEEP int32_t forwarded(struct node *n, int32_t k) {
  n->key = k;
  n->tag = 3;
  n->key = n->key * 2;
  return n->key + n->tag;
}
KEEP int32_t over_a_call(struct node *n, int32_t k) {
  n->key = k;
  touch(n);
  return n->key - k * 1;
}
KEEP int32_t maybe_aliased(int32_t *p, int32_t *q, int32_t v) {
  *p = v;
  *q = v + 1;
  return *p * 4;
}
KEEP uint32_t punned(union bits *b, float f) {
  b->f = f;
  return b->u & 0x7fffffffu;
}
KEEP uint16_t part_of(uint32_t *p, uint32_t v) {
  *p = v;
  return *(uint16_t *)((char *)p + 2);
}
KEEP struct vec add(struct vec a, struct vec b) {
  struct vec r = {a.x + b.x, a.y + b.y, a.z + b.z};
  return r;
}
KEEP double dot(const struct vec *a, const struct vec *b) { return a->x * b->x + a->y * b->y + a->z * b->z; }
KEEP int32_t list_sum(const struct node *n) {
  int32_t s = 0;
  while (n) {
    s += n->key * 2 - n->key;
    n = n->next;
  }
  return s;
}
KEEP void unchanged(int32_t *p, int n) {
  for (int i = 0; i < n; i++) p[i] = p[i] + 0;
}
KEEP int32_t volatile_twice(volatile int32_t *p) { return *p - *p; }
KEEP int on_stack(int n) {
  int table[8];
  for (int i = 0; i < 8; i++) table[i] = i * n;
  table[3] = table[3];
  return table[n & 7] + table[3];
}

int main(void) {
  struct node a, b;
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  a.next = &b;
  for (int32_t i = -50; i < 50; i++) {
    union bits u;
    uint32_t word = 0;
    int32_t one = i, two = 7;
    printf("%d %d ", forwarded(&a, i), over_a_call(&b, i * 3));
    printf("%d %d ", maybe_aliased(&one, &two, i), maybe_aliased(&one, &one, i));
    printf("%u %u ", punned(&u, (float)i / 3), part_of(&word, (uint32_t)i * 77777u));
    struct vec v = add((struct vec){i, 2, 3}, (struct vec){0.5, i, -0.0});
    a.at = v;
    printf("%g %g %g %g %d ", v.x, v.y, v.z, dot(&a.at, &v), list_sum(&a));
    int32_t cells[3] = {i, i + 1, i + 2};
    unchanged(cells, 3);
    volatile int32_t w = i;
    printf("%d %d %d %d\n", cells[0], cells[2], volatile_twice(&w), on_stack(i));
  }
  return 0;
}
