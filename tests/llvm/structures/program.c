#include "library.h"
#include <math.h>
#include <stdio.h>

static const vector ORIGIN = {1, 2, 3};

__attribute__((noinline)) vector along(vector from, double t, vector way) {
    return vector_add(from, vector_scale(t, way));
}
__attribute__((noinline)) double meets(vector from, vector way, vector centre) {
    double b = vector_dot(vector_sub(centre, from), way);
    vector between = vector_sub(from, centre);
    double under = b * b - vector_dot(between, between) + 1;
    if (under < 0) return -1;
    return b - sqrt(under);
}
__attribute__((noinline)) double walk(vector from, vector way, int steps) {
    double sum = 0;
    for (int i = 0; i < steps; i++) {
        vector at = vector_add(from, vector_scale(i, way));
        sum += at.x + 2 * at.z + vector_dot(at, way);
    }
    return sum;
}
// Written twice: the place is no value.
__attribute__((noinline)) double twice(vector a, vector b, int n) {
    vector at = vector_add(a, vector_scale(2, b));
    for (int i = 0; i < n; i++) at = vector_add(at, vector_scale(0.5, b));
    return at.y;
}
// Seen by other code.
static void touch(vector *v) { v->x += 1; }
__attribute__((noinline)) double seen(vector a, vector b) {
    vector at = vector_add(a, vector_scale(2, b));
    touch(&at);
    return at.x;
}
__attribute__((noinline)) vector chosen(int which, vector a, vector b) {
    if (which) return vector_add(a, vector_scale(3, b));
    return vector_sub(a, b);
}
// Made for more than a vector, and aligned in another way.
__attribute__((noinline)) double other_places(vector a, vector b) {
    union { vector v; double all[6]; } both;
    both.all[5] = 7;
    both.v = vector_add(a, vector_scale(2, b));
    _Alignas(64) vector apart = vector_add(a, vector_scale(4, b));
    return both.v.x + both.all[5] + apart.y + vector_dot(both.v, apart);
}
// Values of one iteration are looked at after the loop, and in the next one through memory.
__attribute__((noinline)) double last(vector a, vector b, int n) {
    vector now = a;
    double sum = 0;
    for (int i = 1; i <= n; i++) {
        vector next = vector_add(now, vector_scale(1.0 / i, b));
        sum += vector_dot(vector_sub(next, now), b);
        now = next;
    }
    return sum + now.z;
}
// The caller's argument is changed here: a copy of its own.
__attribute__((noinline)) double changed(vector a, vector b) {
    vector c = vector_add(a, vector_scale(2, b));
    a.x = 10;
    vector d = vector_add(a, vector_scale(2, b));
    return vector_dot(vector_sub(c, d), b);
}
int main(void) {
    vector way = {0.25, -0.5, 1}, a = along(ORIGIN, 2, way);
    printf("%g %g %g\n", a.x, a.y, a.z);
    printf("%g\n", meets(ORIGIN, way, a));
    printf("%g\n", walk(ORIGIN, way, 5));
    printf("%g\n", twice(ORIGIN, way, 3));
    printf("%g\n", seen(ORIGIN, way));
    printf("%g %g %g\n", other_places(ORIGIN, way), last(ORIGIN, way, 4), changed(ORIGIN, way));
    vector c = chosen(1, a, way), d = chosen(0, a, way);
    printf("%g %g\n", c.x, d.y);
    fprintf(stderr, "%ld\n", vectors_made());
}
