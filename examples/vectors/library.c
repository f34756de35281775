#include "library.h"
enum { ROOM = 4096 };
static vector room[ROOM];
static long made, used, kept;
const vector *vector_new(double x, double y, double z) {
    vector *v = &room[used++ % ROOM];
    v->x = x, v->y = y, v->z = z;
    made++;
    return v;
}
void vectors_keep(void) { kept = used; }
void vectors_forget(void) { used = kept; }
const vector *vector_add(const vector *a, const vector *b) { return vector_new(a->x + b->x, a->y + b->y, a->z + b->z); }
const vector *vector_sub(const vector *a, const vector *b) { return vector_new(a->x - b->x, a->y - b->y, a->z - b->z); }
const vector *vector_scale(double s, const vector *a) { return vector_new(s * a->x, s * a->y, s * a->z); }
const vector *vector_add_scaled(const vector *a, double s, const vector *b) {
    return vector_new(a->x + s * b->x, a->y + s * b->y, a->z + s * b->z);
}
double vector_dot(const vector *a, const vector *b) { return a->x * b->x + a->y * b->y + a->z * b->z; }
double vector_dot_sub(const vector *a, const vector *b, const vector *c) {
    return (a->x - b->x) * c->x + (a->y - b->y) * c->y + (a->z - b->z) * c->z;
}
double vector_distance2(const vector *a, const vector *b) {
    double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
    return x * x + y * y + z * z;
}
long vectors_made(void) { return made; }
