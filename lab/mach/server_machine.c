/* Requests to tasks about their memory and threads, to threads, to the host, and to devices. */
#include "mach/server.h"
#include "time/clock.h"
#include "user/thread.h"
#include "user/user.h"

static uint32_t create(struct task *parent, struct request *request)
{
	struct task *made;
	const uint32_t result = task_create(parent, (uint32_t)request->in[0] != 0, &made);

	if (!result)
		request->right = port_make_send(made->self);
	return result;
}

static uint32_t map(struct task *task, struct request *request)
{
	const uint64_t *const in = request->in;
	struct map map = {
	    .address = in[0],
	    .bytes = in[1],
	    .mask = in[2],
	    .anywhere = (uint32_t)in[3],
	    .object = port_by_number((uint32_t)in[4]),
	    .offset = in[5],
	    .copy = (uint32_t)in[6],
	    .protection = (uint32_t)in[7],
	    .most_protection = (uint32_t)in[8],
	    .inheritance = (uint32_t)in[9],
	};
	const uint32_t result = task_vm_map(task, &map);

	request->out[0] = map.address;
	return result;
}

/* Exceptions end the program, and nobody has made it: there is no port for either. */
static uint32_t get_special(struct task *task, struct request *request)
{
	const uint32_t which = (uint32_t)request->in[0];

	if (which != SPECIAL_KERNEL && which != SPECIAL_EXCEPTION && which != SPECIAL_BOOTSTRAP)
		return KERN_INVALID_ARGUMENT;
	request->right = (struct right){PORT_NULL, ITEM_PORT_SEND};
	if (which == SPECIAL_KERNEL)
		request->right = port_make_send(task->self);
	return KERN_SUCCESS;
}

/* Whoever waits for the answer gets it also where the task that asks is the one that ends. */
static uint32_t terminate(struct task *task, struct request *request)
{
	if (task != request->sender)
		return task_terminate(task);
	request->ends_sender = 1;
	return KERN_SUCCESS;
}

static uint32_t create_thread(struct task *task, struct request *request)
{
	struct thread *made;
	const uint32_t result = task_thread_create(task, &made);

	if (!result)
		request->right = port_make_send(made->mach.self);
	return result;
}

static uint32_t serve_thread(uint32_t id, struct request *request)
{
	struct thread *const thread = thread_of_port(request->to);

	if (!thread)
		return KERN_INVALID_ARGUMENT;
	if (id == ID_THREAD_SET_STATE)
		return thread_set_state(thread, (uint32_t)request->in[0], request->array,
					request->array_count);
	if (id == ID_THREAD_RESUME)
		return thread_resume(thread);
	if (thread == current)
		request->ends_thread = 1;
	else
		thread_terminate(thread);
	return KERN_SUCCESS;
}

static uint32_t serve_task(uint32_t id, struct request *request)
{
	struct task *const task = task_of_port(request->to);
	const uint64_t *const in = request->in;

	if (!task)
		return KERN_INVALID_ARGUMENT;
	switch (id) {
	case ID_TASK_CREATE:
		return create(task, request);
	case ID_TASK_TERMINATE:
		return terminate(task, request);
	case ID_THREAD_CREATE:
		return create_thread(task, request);
	case ID_TASK_GET_PORT:
		return get_special(task, request);
	case ID_VM_ALLOCATE:
		request->out[0] = in[0];
		return task_vm_allocate(task, &request->out[0], in[1], (uint32_t)in[2] != 0);
	case ID_VM_DEALLOCATE:
		return task_vm_deallocate(task, in[0], in[1]);
	default:
		return map(task, request);
	}
}

static uint32_t get_time(uint32_t id, struct request *request)
{
	struct time_value now = {0};

	clock_read(CLOCK_REALTIME, &now);
	request->out[0] = now.seconds;
	request->out[1] = id == ID_HOST_GET_TIME ? now.nanoseconds / 1000 : now.nanoseconds;
	return KERN_SUCCESS;
}

static uint32_t serve_host(uint32_t id, struct request *request)
{
	const struct port *const to = request->to;

	if (id == ID_HOST_REBOOT) {
		if (to->object != OBJECT_HOST_PRIVATE)
			return KERN_INVALID_HOST;
		program_ends_all();
	}
	if (to->object != OBJECT_HOST && to->object != OBJECT_HOST_PRIVATE)
		return KERN_INVALID_HOST;
	return get_time(id, request);
}

static uint32_t open(struct request *request)
{
	uint32_t device;

	if (request->to->object != OBJECT_DEVICES)
		return DEVICE_INVALID_OPERATION;
	const uint32_t result = device_find(request->string, STRING_BYTES, &device);
	if (result)
		return result;
	struct port *const port = device_port(device, request->sender);
	if (!port)
		return KERN_RESOURCE_SHORTAGE;
	device_opened(device);
	request->right = port_make_send(port);
	return KERN_SUCCESS;
}

static uint32_t serve_device(uint32_t id, struct request *request)
{
	const struct port *const to = request->to;

	if (id == ID_DEVICE_OPEN)
		return open(request);
	if (to->object != OBJECT_DEVICE)
		return DEVICE_INVALID_OPERATION;
	if (id == ID_DEVICE_CLOSE) {
		device_closed(to->number);
		return KERN_SUCCESS;
	}
	if ((uint32_t)request->in[0] & ~PROTECTION_ALL)
		return KERN_INVALID_ARGUMENT;
	struct port *const pager = device_pager(to->number);
	if (!pager)
		return KERN_RESOURCE_SHORTAGE;
	request->right = port_make_send(pager);
	return KERN_SUCCESS;
}

uint32_t serve_machine(uint32_t id, struct request *request)
{
	switch (id) {
	case ID_HOST_GET_TIME:
	case ID_HOST_GET_TIME_64:
	case ID_HOST_REBOOT:
		return serve_host(id, request);
	case ID_DEVICE_OPEN:
	case ID_DEVICE_CLOSE:
	case ID_DEVICE_MAP:
		return serve_device(id, request);
	case ID_THREAD_TERMINATE:
	case ID_THREAD_SET_STATE:
	case ID_THREAD_RESUME:
		return serve_thread(id, request);
	default:
		return serve_task(id, request);
	}
}
