#include "library.h"
static long made;
static vector count(double x, double y, double z) { made++; return (vector){x, y, z}; }
vector vector_add(vector a, vector b) { return count(a.x + b.x, a.y + b.y, a.z + b.z); }
vector vector_sub(vector a, vector b) { return count(a.x - b.x, a.y - b.y, a.z - b.z); }
vector vector_scale(double s, vector a) { return count(s * a.x, s * a.y, s * a.z); }
double vector_dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
vector vector_add_scaled(vector a, double s, vector b) { return count(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z); }
double vector_dot_sub(vector a, vector b, vector c) {
    return (a.x - b.x) * c.x + (a.y - b.y) * c.y + (a.z - b.z) * c.z;
}
long vectors_made(void) { return made; }
