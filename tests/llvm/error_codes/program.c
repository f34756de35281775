#include <stdio.h>

struct vec { long size; double at[64]; };
int vec_set(struct vec *v, long i, double x);
int vec_fill(struct vec *v, double x);
int vec_zero(struct vec *v);
void vec_clear(struct vec *v);
struct vec *vec_push(struct vec *v, double x);
long vec_size(const struct vec *v);
double vec_get(const struct vec *v, long i);
long calls_made(void);

/* No code is used: one call is left of three. */
double unused(struct vec *v, long i) {
  vec_set(v, i, 1);
  vec_set(v, i, 2);
  vec_set(v, i, 3);
  return vec_get(v, i);
}

/* The code of the last one. */
int last(struct vec *v, long i) {
  vec_set(v, i, 4);
  return vec_set(v, i, 5);
}

/* The code of the first one, of the middle one, of all. */
int first(struct vec *v, long i) {
  int e = vec_set(v, i, 6);
  vec_set(v, i, 7);
  return e;
}
int middle(struct vec *v, long i) {
  vec_set(v, i, 6);
  int e = vec_set(v, i, 7);
  vec_set(v, i, 8);
  return e;
}
int all(struct vec *v, long i) { return vec_set(v, i, 9) * 100 + vec_set(v, i, 10) * 10 + vec_set(v, i, 11); }

/* The code decides a branch, and the other arm writes. */
double decides(struct vec *v, long i) {
  if (vec_set(v, i, 12)) {
    vec_fill(v, 13);
    return vec_get(v, 0);
  }
  return vec_get(v, i);
}

/* Written on one way only, and read behind the merge. */
double one_way(struct vec *v, long i, int c) {
  vec_set(v, i, 14);
  if (c) vec_set(v, i, 15);
  return vec_get(v, i);
}
double both_ways(struct vec *v, long i, int c) {
  if (c) vec_set(v, i, 16);
  else vec_set(v, i, 17);
  return vec_get(v, i);
}

/* Something else between: another vector that may be this one, memory, output, another element. */
double other_vector(struct vec *v, struct vec *w, long i) {
  vec_set(v, i, 18);
  vec_clear(w);
  return vec_get(v, i);
}
double memory(struct vec *v, double *p, long i) {
  vec_set(v, i, 19);
  *p = 20;
  double x = vec_get(v, i);
  vec_set(v, i, 21);
  return x + *p;
}
double output(struct vec *v, long i) {
  vec_set(v, i, 22);
  printf("%g ", v->at[i]);
  vec_set(v, i, 23);
  return vec_get(v, i);
}
double element(struct vec *v, long i, long j) {
  vec_set(v, i, 24);
  vec_set(v, j, 25);
  vec_set(v, i, 26);
  return vec_get(v, j) * 100 + vec_get(v, i);
}
double constants(struct vec *v) {
  vec_set(v, 1, 27);
  vec_set(v, 2, 28);
  return vec_get(v, 1);
}

/* In loops. */
double looped(struct vec *v, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    vec_set(v, i, i);
    vec_set(v, i, i + 0.5);
    sum += vec_get(v, i);
  }
  return sum;
}
int codes(struct vec *v, int n) {
  int failed = 0;
  for (int i = 0; i < n; i++) {
    vec_set(v, i, 29);
    if (vec_set(v, i, 30 + i)) { failed++; continue; }
    if (vec_get(v, i) > 32) break;
  }
  return failed * 100 + (int)vec_get(v, 0);
}
double before_loop(struct vec *v, int n) {
  vec_set(v, 0, 40);
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += vec_get(v, 0);
    vec_set(v, 0, sum);
  }
  return sum;
}
double same_in_loop(struct vec *v, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    vec_set(v, 0, 41);
    if (i & 1) vec_clear(v);
    sum += vec_get(v, 0);
  }
  return sum;
}

/* Written as it was, with and without its code. */
double kept(struct vec *v, long i) {
  vec_set(v, i, vec_get(v, i));
  return vec_get(v, i);
}
int kept_code(struct vec *v, long i) { return vec_set(v, i, vec_get(v, i)); }
double not_kept(struct vec *v, long i) {
  double x = vec_get(v, i);
  vec_clear(v);
  vec_set(v, i, x);
  return vec_get(v, i);
}

/* With calls that give nothing. */
void cleared(struct vec *v, long i) {
  vec_set(v, i, 42);
  vec_clear(v);
}
int filled(struct vec *v) {
  vec_clear(v);
  return vec_fill(v, 43);
}
double zeros(struct vec *v) {
  vec_fill(v, 0);
  return vec_get(v, 0);
}

/* Its result is passed on. */
long pushed(struct vec *v) {
  struct vec *w = vec_push(vec_push(v, 44), 45);
  return vec_size(w) * 100 + vec_size(v);
}

static void show(const char *name, struct vec *v, double x) {
  printf("%s %g:", name, x);
  for (long i = 0; i < v->size; i++) printf(" %g", v->at[i]);
  printf("\n");
}

int main(void) {
  struct vec v = {5, {1, 2, 3, 4, 5}}, w = {5, {5, 4, 3, 2, 1}};
  show("unused", &v, unused(&v, 1));
  show("last", &v, last(&v, 2) * 10 + last(&v, 9));
  show("first", &v, first(&v, 2) * 10 + first(&v, 9));
  show("middle", &v, middle(&v, 3) * 10 + middle(&v, 9));
  show("all", &v, all(&v, 3) * 1000 + all(&v, 9));
  show("decides", &v, decides(&v, 3));
  show("decides", &v, decides(&v, 9));
  show("one_way", &v, one_way(&v, 1, 0) * 100 + one_way(&v, 2, 1));
  show("both_ways", &v, both_ways(&v, 1, 0) * 100 + both_ways(&v, 2, 1));
  show("other_vector", &v, other_vector(&v, &w, 1) * 100 + other_vector(&v, &v, 2));
  show("memory", &v, memory(&v, &v.at[1], 1) * 100 + memory(&v, &v.at[0], 2));
  show("output", &v, output(&v, 1));
  show("element", &v, element(&v, 1, 2));
  show("element", &v, element(&v, 1, 1));
  show("constants", &v, constants(&v));
  show("looped", &v, looped(&v, 5));
  show("codes", &v, codes(&v, 5));
  show("before_loop", &v, before_loop(&v, 3));
  show("same_in_loop", &v, same_in_loop(&v, 4));
  show("kept", &v, kept(&v, 1) + kept(&v, 9));
  show("kept_code", &v, kept_code(&v, 1) * 10 + kept_code(&v, 9));
  show("not_kept", &v, not_kept(&v, 1));
  cleared(&v, 1);
  show("cleared", &v, 0);
  show("filled", &v, filled(&v));
  show("zeros", &v, zeros(&v));
  show("pushed", &v, pushed(&v));
  fprintf(stderr, "%ld\n", calls_made());
  return 0;
}
