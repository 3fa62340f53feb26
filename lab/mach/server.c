/*
 * Requests to the kernel as MIG's stubs send them: a header, and items each of which is a description and its value. A row says what a
 * routine's request has and what its reply; everything is checked as the kernel's stubs do: the exact size, whether there are rights, and
 * each description as a whole.
 */
#include "mach/server.h"
#include "user/thread.h"

/*
 * Items: i INTEGER_32, b BOOLEAN, n PORT_NAME, w a word of the task's width, s a name of 128 characters, p a send right, r a right of any
 * type, o a send-once right; v numbers of 32 bits, as many as the description says, which come last. In replies also t seconds and
 * microseconds, T seconds and nanoseconds, S a port's state in nine numbers.
 */
static const struct routine {
	uint32_t id;
	const char *in, *out;
} routines[] = {
    {ID_TASK_CREATE, "b", "p"},	      {ID_TASK_TERMINATE, "", ""},	 {ID_VM_ALLOCATE, "wwb", "w"},
    {ID_VM_DEALLOCATE, "ww", ""},     {ID_TASK_GET_PORT, "i", "p"},	 {ID_VM_MAP, "wwwbpwbiii", "w"},
    {ID_HOST_GET_TIME, "", "t"},      {ID_HOST_REBOOT, "i", ""},	 {ID_HOST_GET_TIME_64, "", "T"},
    {ID_DEVICE_OPEN, "is", "p"},      {ID_DEVICE_CLOSE, "", ""},	 {ID_DEVICE_MAP, "iwwi", "p"},
    {ID_PORT_TYPE, "n", "i"},	      {ID_PORT_ALLOCATE_NAME, "in", ""}, {ID_PORT_ALLOCATE, "i", "n"},
    {ID_PORT_DESTROY, "n", ""},	      {ID_PORT_DEALLOCATE, "n", ""},	 {ID_PORT_GET_REFS, "ni", "i"},
    {ID_PORT_MOD_REFS, "nii", ""},    {ID_PORT_SET_LIMIT, "ni", ""},	 {ID_PORT_NOTIFICATION, "niio", "o"},
    {ID_PORT_INSERT_RIGHT, "nr", ""}, {ID_PORT_STATUS, "n", "S"},	 {ID_THREAD_TERMINATE, "", ""},
    {ID_THREAD_SET_STATE, "iv", ""},  {ID_THREAD_CREATE, "", "p"},	 {ID_THREAD_RESUME, "", ""},
};

/* A value that is described: how many elements of how many bits, of what type. */
struct form {
	unsigned type, bits, number;
};

static struct form form_of(char item, unsigned width)
{
	switch (item) {
	case 'b':
		return (struct form){ITEM_BOOLEAN, 32, 1};
	case 'n':
		return (struct form){ITEM_PORT_NAME, 32, 1};
	case 'w':
		return width == 64 ? (struct form){ITEM_INTEGER_64, 64, 1}
				   : (struct form){ITEM_INTEGER_32, 32, 1};
	case 'p':
		return (struct form){ITEM_PORT_SEND, width, 1};
	case 'o':
		return (struct form){ITEM_PORT_SEND_ONCE, width, 1};
	case 't':
		return width == 64 ? (struct form){ITEM_INTEGER_64, 64, 2}
				   : (struct form){ITEM_INTEGER_32, 32, 2};
	case 'T':
		return width == 64 ? (struct form){ITEM_INTEGER_64, 64, 2}
				   : (struct form){ITEM_INTEGER_32, 32, 4};
	case 'S':
		return (struct form){ITEM_INTEGER_32, 32, STATE_NUMBERS};
	default:
		return (struct form){ITEM_INTEGER_32, 32, 1};
	}
}

static uint64_t description(struct form form, unsigned width)
{
	const uint64_t type = form.type | form.bits << 8;

	return width == 64 ? type | 1ul << 29 | (uint64_t)form.number << 32
			   : type | form.number << 16 | 1ul << 28;
}

/* Of a string of 1024 bits, the only long description: 12 bytes at 32 bits, of which the first four are flags. */
static const uint8_t string_32[12] = {0, 0, 0, 0x30, ITEM_STRING, 0, 0, 4, 1, 0, 0, 0};
static const uint8_t string_64[8] = {ITEM_STRING, 0, 4, 0x60, 1, 0, 0, 0};

static uint32_t bytes_of(char item, unsigned width)
{
	const uint32_t word = width / 8;
	const struct form form = form_of(item, width);

	if (item == 's')
		return (width == 64 ? sizeof(string_64) : sizeof(string_32)) + STRING_BYTES;
	if (item == 'v')
		return word; /* with nothing in it */
	return word + (uint32_t)align_up(form.bits / 8 * form.number, word);
}

static uint32_t size_of(const char *items, unsigned width)
{
	uint32_t bytes = 0;

	for (; *items; items++)
		bytes += bytes_of(*items, width);
	return bytes;
}

static int is_right(char item)
{
	return item == 'p' || item == 'r' || item == 'o';
}

static int has_rights(const char *items)
{
	for (; *items; items++)
		if (is_right(*items))
			return 1;
	return 0;
}

static const struct routine *find(uint32_t id)
{
	for (unsigned i = 0; i < sizeof(routines) / sizeof(routines[0]); i++)
		if (routines[i].id == id)
			return &routines[i];
	return 0;
}

static int take_string(struct request *request, const uint8_t *at, unsigned width)
{
	const uint8_t *const wanted = width == 64 ? string_64 : string_32;
	const uint32_t bytes = width == 64 ? sizeof(string_64) : sizeof(string_32);

	request->string = at + bytes;
	return !__builtin_memcmp(at, wanted, bytes);
}

/* Numbers to the end of the message, and whether their description says so; the bytes of the last word may be more. */
static int take_array(struct request *request, const uint8_t *at, int64_t bytes, unsigned width)
{
	const unsigned word = width / 8;
	uint64_t described = 0;

	__builtin_memcpy(&described, at, word);
	const uint32_t count = (uint32_t)(width == 64 ? described >> 32 : described >> 16 & 0xfff);
	request->array = at + word;
	request->array_count = count;
	return count <= MOST_STATE_NUMBERS &&
	       described == description((struct form){ITEM_INTEGER_32, 32, count}, width) &&
	       bytes == (int64_t)(word + align_up(count * sizeof(uint32_t), word));
}

/* A value, and whether its description is as it must be. */
static int take_item(struct request *request, unsigned place, char item, const uint8_t *at, unsigned width)
{
	const unsigned word = width / 8;
	struct form form = form_of(item, width);
	uint64_t described = 0;

	if (item == 's')
		return take_string(request, at, width);
	__builtin_memcpy(&described, at, word);
	if (item == 'r') {
		form = (struct form){(unsigned)described & 0xff, width, 1};
		if (form.type < ITEM_PORT_RECEIVE || form.type > ITEM_PORT_SEND_ONCE)
			return 0;
	}
	request->types[place] = form.type;
	__builtin_memcpy(&request->in[place], at + word, form.bits / 8);
	return described == description(form, width);
}

static int take_items(struct request *request, const struct routine *routine, const struct message *message)
{
	const uint8_t *at = message->bytes + header_bytes(message->width), *const end =
									       message->bytes + message->size;
	const unsigned width = message->width;
	const uint32_t least = header_bytes(width) + size_of(routine->in, width);

	if (message->size < least || has_rights(routine->in) != ((message->bits & BITS_COMPLEX) != 0))
		return 0;
	for (unsigned place = 0; routine->in[place]; place++) {
		if (routine->in[place] == 'v')
			return take_array(request, at, end - at, width);
		if (!take_item(request, place, routine->in[place], at, width))
			return 0;
		at += bytes_of(routine->in[place], width);
	}
	return at == end;
}

/* Rights that the routine has taken are not the message's any more: their numbers there become 0. */
static void note_taken(const struct request *request, const struct routine *routine, struct message *message)
{
	uint8_t *at = message->bytes + header_bytes(message->width);
	const unsigned word = message->width / 8;

	for (unsigned place = 0; routine->in[place]; place++) {
		if (is_right(routine->in[place]) && !request->in[place])
			__builtin_memset(at + word, 0, word);
		at += bytes_of(routine->in[place], message->width);
	}
}

static void put_item(uint8_t *at, char item, const struct request *request, unsigned width)
{
	const unsigned word = width / 8;
	const struct form form = form_of(item, width);
	const uint64_t described = description(form, width);
	uint64_t values[MOST_OUT];

	__builtin_memcpy(at, &described, word);
	__builtin_memcpy(values, request->out, sizeof(values));
	if (is_right(item))
		values[0] = port_number(request->right.port);
	/* Two words of 32 bits where seconds and microseconds are described so. */
	if (item == 't' && width == 32)
		values[0] = (uint32_t)values[0] | values[1] << 32;
	__builtin_memcpy(at + word, values, form.bits / 8 * form.number);
}

/* The message that says how it went, and with success what the routine has to tell. Null when there is no memory. */
static struct message *new_reply(const struct routine *routine, const struct request *request,
				 uint32_t result, unsigned width, uint32_t id)
{
	const unsigned word = width / 8;
	const char *const out = routine && !result ? routine->out : "";
	const uint32_t head = header_bytes(width), answer = head + bytes_of('i', width);
	/* MIG's replies of 32 bits may be any number of words, those of 64 are of double words. */
	struct message *const reply = message_new(answer + size_of(out, width), width, request->sender);
	const uint64_t described = description(form_of('i', width), width);

	if (!reply)
		return 0;
	message_set_id(reply, id + REPLY_IS);
	__builtin_memcpy(reply->bytes + head, &described, word);
	__builtin_memcpy(reply->bytes + head + word, &result, sizeof(result));
	if (*out)
		put_item(reply->bytes + answer, *out, request, width);
	if (has_rights(out))
		reply->bits = BITS_COMPLEX;
	return reply;
}

/* To where the request wants it; to nowhere if it does not. A port of the kernel's makes nothing of a reply. */
static void send_reply(struct message *reply, struct right to)
{
	if (reply && port_is_real(to.port) && to.port->is_alive && to.port->object == OBJECT_NONE) {
		reply->remote = to;
		message_put(to.port, reply);
		return;
	}
	right_destroy(to);
	if (reply)
		message_destroy(reply, 0);
}

static uint32_t serve(const struct routine *routine, struct request *request)
{
	const uint32_t result = serve_port(routine->id, request);

	return result == MIG_BAD_ID ? serve_machine(routine->id, request) : result;
}

void server_serve(struct message *message)
{
	const uint32_t id = message_id(message);
	const unsigned width = message->width;
	const struct routine *const routine = find(id);
	struct request request = {.to = message->remote.port, .sender = current->mach.task};
	const struct right answer_to = message->local;
	uint32_t result = MIG_BAD_ID;

	message->local = (struct right){PORT_NULL, 0};
	if (routine && !take_items(&request, routine, message)) {
		result = MIG_BAD_ARGUMENTS;
	} else if (routine) {
		result = serve(routine, &request);
		note_taken(&request, routine, message);
	}
	/* Before the reply is made, for which the task then has room. */
	message_destroy(message, 1);
	struct message *const reply =
	    port_is_real(answer_to.port) ? new_reply(routine, &request, result, width, id) : 0;
	if (!reply && !result)
		right_destroy(request.right); /* nobody gets it */
	send_reply(reply, answer_to);
	if (request.ends_sender)
		task_terminate(request.sender);
	if (request.ends_thread)
		thread_terminate(current);
}
