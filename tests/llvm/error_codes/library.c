struct vec { long size; double at[64]; };

static long calls;

/* 1 where i is no index: then nothing is written. */
int vec_set(struct vec *v, long i, double x) {
  calls++;
  if (i < 0 || i >= v->size) return 1;
  v->at[i] = x;
  return 0;
}

/* How many were written. */
int vec_fill(struct vec *v, double x) {
  calls++;
  for (long i = 0; i < v->size; i++) v->at[i] = x;
  return (int)v->size;
}

int vec_zero(struct vec *v) { return vec_fill(v, 0); }

void vec_clear(struct vec *v) {
  calls++;
  for (long i = 0; i < v->size; i++) v->at[i] = 0;
}

/* The vector, one longer. */
struct vec *vec_push(struct vec *v, double x) {
  calls++;
  v->at[v->size++] = x;
  return v;
}

long vec_size(const struct vec *v) { return v->size; }

double vec_get(const struct vec *v, long i) { return i < 0 || i >= v->size ? -1 : v->at[i]; }

long calls_made(void) { return calls; }
