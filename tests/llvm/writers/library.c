struct buffer { long length; int bytes[4096]; };

static int slow;

struct buffer *append_byte(struct buffer *b, int c) {
  b->bytes[b->length++] = c;
  return b;
}

struct buffer *append_code_point(struct buffer *b, int c) {
  slow++;
  if (c < 0x80) return append_byte(b, c);
  append_byte(append_byte(b, 0xe0 | c >> 12), 0x80 | (c >> 6 & 0x3f));
  return append_byte(b, 0x80 | (c & 0x3f));
}

long push(struct buffer *b, int c) {
  slow++;
  return append_byte(b, c)->length;
}

long push_zero(struct buffer *b) { return append_byte(b, 0)->length; }

int slow_calls(void) { return slow; }
