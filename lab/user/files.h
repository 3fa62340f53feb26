/* Open files: the three that a program begins with, and pipes of its own. */
#pragma once

#include "user/user.h"

#define DESCRIPTORS 1024 /* RLIMIT_NOFILE */
#define PIPE_BYTES  65536u

/* What a descriptor leads to. Several descriptors may lead to the same. */
struct open_file {
	enum { FILE_INPUT = 1, FILE_OUTPUT, FILE_PIPE_OUT, FILE_PIPE_IN } kind;
	uint32_t flags;	     /* O_* */
	uint64_t descriptor; /* of FILE_OUTPUT: 1 or 2 */
	struct pipe *pipe;
	unsigned count; /* of descriptors; 0: unused */
};

struct pipe {
	unsigned at, held;	   /* the first byte, and how many there are */
	unsigned readers, writers; /* whether the ends are open */
	uint8_t bytes[PIPE_BYTES];
};

/* files.c */
void files_reset(struct text input); /* for a new program; `input` is what its standard input holds */
/* The open file of a descriptor, of which only 32 bits count; null when there is none. */
struct open_file *file_at(uint64_t descriptor);
/* The lowest free descriptor from `from` on leads to the file now; or -EMFILE. */
long file_open(struct open_file *file, unsigned from, int close_on_exec);
/* A descriptor that is not in use, or is closed by this. */
void file_place(struct open_file *file, unsigned descriptor, int close_on_exec);
void file_close(unsigned descriptor);
int *file_close_on_exec(unsigned descriptor);
/* Both ends of a new pipe, not yet open; 0 when there are too many. */
int file_new_pipe(struct open_file *ends[2], uint32_t flags);

/* Bytes that can be read at once. */
uint64_t file_waiting(const struct open_file *file);
/* Copies bytes that can be read, and drops them once they have arrived. */
void file_peek(const struct open_file *file, uint8_t *to, uint64_t count);
void file_drop(struct open_file *file, uint64_t count);
/* Bytes that a pipe has room for. */
uint64_t pipe_room(const struct pipe *pipe);
void pipe_put(struct pipe *pipe, const uint8_t *from, uint64_t count);

/* calls_file.c: what a program says on its standard output, if it is the kernel's to say it. */
void output_write(const void *bytes, uint64_t count);
